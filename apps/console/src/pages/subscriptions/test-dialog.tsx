import { Link } from '@tanstack/react-router';
import { useEffect, useRef } from 'react';
import { Dialog } from '../../parts/dialog.tsx';
import { Failed, Loading } from '../../parts/states.tsx';
import { AttemptList } from '../find/attempt-list.tsx';
import type { Subscription } from './subscribing.ts';
import { useTest } from './use-test.ts';

type TestProps = { subscription: Subscription; close: () => void };

/** Sends the example of the action, once, and shows what the receiver says. */
export function TestDialog({ subscription: { guid, action }, close }: TestProps) {
  const test = useTest(guid);
  const hasBegun = useRef(false);
  useEffect(() => {
    // Once, though React looks twice.
    if (!hasBegun.current) test.mutate();
    hasBegun.current = true;
  });
  return (
    <Dialog title={`Test of ${action}`} close={close}>
      <p className="small">
        The action's example, signed like any other, with the header <code>X-Webhook-Test: true</code>.
      </p>
      <div aria-live="polite">
        {test.isPending && <Loading what="the response" />}
        {test.error !== null && <Failed error={test.error} retry={() => test.mutate()} />}
        {test.data !== undefined && (
          <>
            <AttemptList attempts={test.data.attempts} />
            <div className="tools">
              <button type="button" onClick={() => test.mutate()}>
                Send again
              </button>
              <Link to="/deliveries/$guid" params={{ guid: test.data.guid }}>
                Open delivery
              </Link>
            </div>
          </>
        )}
      </div>
    </Dialog>
  );
}
