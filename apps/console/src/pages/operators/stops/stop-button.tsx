import { useState } from 'react';
import { StartDialog } from './start-dialog.tsx';
import { StopDialog } from './stop-dialog.tsx';
import { nameOf, useStops, type Stoppable } from './stoppable.ts';

/** Stops what is not stopped, and starts what is, once that is confirmed. */
export function StopButton({ what }: { what: Stoppable }) {
  const [isAsking, setAsking] = useState(false);
  const stops = useStops();
  if (stops.data === undefined) return null;
  const { subscriptions, hosts } = stops.data;
  const isStopped =
    what.kind === 'host'
      ? hosts.some(({ host }) => host === what.host)
      : subscriptions.some(({ guid }) => guid === what.guid);
  const does = isStopped ? 'Start' : 'Stop';
  const Asked = isStopped ? StartDialog : StopDialog;
  return (
    <>
      <button
        type="button"
        className={isStopped ? '' : 'danger'}
        aria-label={`${does} ${nameOf(what)}`}
        onClick={() => setAsking(true)}
      >
        {does}
      </button>
      {isAsking && <Asked what={what} close={() => setAsking(false)} />}
    </>
  );
}
