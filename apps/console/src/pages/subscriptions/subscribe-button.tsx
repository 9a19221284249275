import { useState } from 'react';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { SubscribeDialog } from './subscribe-dialog.tsx';
import type { Subscription } from './subscribing.ts';

type SubscribeButtonProps = {
  /** Undefined while they are not known. */
  current: readonly Subscription[] | undefined;
  /** An action that is wanted from the start: the dialog is open then. */
  wanted?: string | undefined;
  /** Whether it is what the page leads to first. */
  isMain: boolean;
};

/** For tokens that may change subscriptions. */
export function SubscribeButton({ current, wanted, isMain }: SubscribeButtonProps) {
  const session = useSignedIn();
  const [isOpen, setOpen] = useState(wanted !== undefined);
  if (!mayWrite(session)) return null;
  return (
    <>
      <button type="button" className={isMain ? 'main' : ''} onClick={() => setOpen(true)}>
        Subscribe
      </button>
      {isOpen && current !== undefined && (
        <SubscribeDialog action={wanted} current={current} close={() => setOpen(false)} />
      )}
    </>
  );
}
