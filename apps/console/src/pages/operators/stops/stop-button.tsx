import { useState } from 'react';
import { StartDialog } from './start-dialog.tsx';
import { StopDialog } from './stop-dialog.tsx';
import { stoppableName, useStops, type Stoppable } from './stoppable.ts';

/** Stops what is not stopped, and starts what is, once that is confirmed. */
export function StopButton({ what }: { what: Stoppable }) {
  // The question stays the one that was asked, whatever becomes of it meanwhile.
  const [asked, setAsked] = useState<'Start' | 'Stop'>();
  const stops = useStops();
  if (stops.data === undefined) return null;
  const { subscriptions, hosts } = stops.data;
  const isStopped =
    what.kind === 'host'
      ? hosts.some(({ host }) => host === what.host)
      : subscriptions.some(({ guid }) => guid === what.guid);
  const does = isStopped ? 'Start' : 'Stop';
  const Asked = asked === 'Start' ? StartDialog : StopDialog;
  return (
    <>
      <button
        type="button"
        className={isStopped ? '' : 'danger'}
        aria-label={`${does} ${stoppableName(what)}`}
        onClick={() => setAsked(does)}
      >
        {does}
      </button>
      {asked !== undefined && <Asked what={what} close={() => setAsked(undefined)} />}
    </>
  );
}
