import { useState } from 'react';
import { PurgeDialog, RetryDialog } from './rejected-dialogs.tsx';
import type { RejectedSelection } from './types.ts';

type RejectedActionsProps = {
  /** Undefined where there is none: what was asked about one stays, as it says how that went. */
  selection: RejectedSelection | undefined;
};

/** Actions on rejected messages, which stay unchanged. */
export function RejectedActions({ selection }: RejectedActionsProps) {
  const [asked, setAsked] = useState<{ does: 'retry' | 'purge'; selection: RejectedSelection }>();
  const close = () => setAsked(undefined);
  return (
    <div className="tools">
      {selection !== undefined && (
        <>
          <button type="button" onClick={() => setAsked({ does: 'retry', selection })}>
            Retry …
          </button>
          <button type="button" className="danger" onClick={() => setAsked({ does: 'purge', selection })}>
            Purge …
          </button>
        </>
      )}
      {asked?.does === 'retry' && <RetryDialog selection={asked.selection} close={close} />}
      {asked?.does === 'purge' && <PurgeDialog selection={asked.selection} close={close} />}
    </div>
  );
}
