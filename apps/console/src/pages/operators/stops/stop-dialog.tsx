import { useState, type SyntheticEvent } from 'react';
import { told } from '../../../api/ask.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogTools } from '../../../parts/dialog-tools.tsx';
import { Failed } from '../../../parts/states.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { nameOf, type Stoppable } from './stoppable.ts';
import { useStopChange } from './use-stop-change.ts';

/** Has what is due for a subscription or a host wait until an operator starts it, for a reason that its clients see. */
export function StopDialog({ what, close }: { what: Stoppable; close: () => void }) {
  const { ask } = useSignedIn();
  const [reason, setReason] = useState('');
  const stop = useStopChange(
    () =>
      what.kind === 'host'
        ? told(
            ask.operator.POST('/v1/admin/hosts/{host}/stop', {
              params: { path: { host: what.host } },
              body: { reason: reason.trim() },
            }),
          )
        : told(
            ask.operator.POST('/v1/admin/subscriptions/{guid}/stop', {
              params: { path: { guid: what.guid } },
              body: { reason: reason.trim() },
            }),
          ),
    `Stopped ${nameOf(what)}.`,
    close,
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    stop.mutate(undefined);
  };
  return (
    <Dialog title={`Stop ${nameOf(what)}?`} close={close}>
      <form onSubmit={submit}>
        {what.kind === 'host' && <p>It holds for every subscription of every account whose URL has this host.</p>}
        <p>
          Nothing is sent from then on. What is due waits until an operator starts it again; what waits for longer than
          a delivery may expires, and counts against nobody. The client sees the reason, and cannot lift the stop.
        </p>
        <label>
          Reason, as the client sees it
          <input required maxLength={200} value={reason} onChange={(event) => setReason(event.target.value)} />
        </label>
        {stop.error !== null && <Failed error={stop.error} />}
        <DialogTools does="Stop" isDangerous isPending={stop.isPending} close={close} />
      </form>
    </Dialog>
  );
}
