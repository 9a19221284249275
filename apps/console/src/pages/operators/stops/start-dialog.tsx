import { told } from '../../../api/ask.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogTools } from '../../../parts/dialog-tools.tsx';
import { Failed } from '../../../parts/states.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { stoppableName, type Stoppable } from './stoppable.ts';
import { useStopChange } from './use-stop-change.ts';

/** Has what was stopped sent again, what waits included. */
export function StartDialog({ what, close }: { what: Stoppable; close: () => void }) {
  const { ask } = useSignedIn();
  const start = useStopChange(
    () =>
      what.kind === 'host'
        ? told(ask.operator.POST('/v1/admin/hosts/{host}/start', { params: { path: { host: what.host } } }))
        : told(ask.operator.POST('/v1/admin/subscriptions/{guid}/start', { params: { path: { guid: what.guid } } })),
    `Started ${stoppableName(what)}.`,
    close,
  );
  return (
    <Dialog title={`Start ${stoppableName(what)}?`} close={close}>
      <p>
        Waiting deliveries are sent as fast as the endpoint accepts them. Subscriptions that are paused or switched off
        stay so.
      </p>
      {start.error !== null && <Failed error={start.error} />}
      <DialogTools does="Start" isPending={start.isPending} close={close} onClick={() => start.mutate(undefined)} />
    </Dialog>
  );
}
