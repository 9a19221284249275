import { useState } from 'react';
import { PurgeDialog, RetryDialog } from './rejected-dialogs.tsx';
import type { RejectedSelection } from './types.ts';

/** Actions on rejected messages, which stay unchanged. */
export function RejectedActions({ selection }: { selection: RejectedSelection }) {
  const [asked, setAsked] = useState<'retry' | 'purge'>();
  const close = () => setAsked(undefined);
  return (
    <div className="tools">
      <button type="button" onClick={() => setAsked('retry')}>
        Retry …
      </button>
      <button type="button" className="danger" onClick={() => setAsked('purge')}>
        Purge …
      </button>
      {asked === 'retry' && <RetryDialog selection={selection} close={close} />}
      {asked === 'purge' && <PurgeDialog selection={selection} close={close} />}
    </div>
  );
}
