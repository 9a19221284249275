import { useState, type SyntheticEvent } from 'react';
import { told } from '../../../api/ask.ts';
import { Dialog } from '../../../parts/dialog.tsx';
import { DialogTools } from '../../../parts/dialog-tools.tsx';
import { FaultsOf, forgetting } from '../../../parts/faults.tsx';
import { Field } from '../../../parts/field.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { stoppableName, type Stoppable } from './stoppable.ts';
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
    `Stopped ${stoppableName(what)}.`,
    close,
  );
  const submit = (event: SyntheticEvent) => {
    event.preventDefault();
    stop.mutate(undefined);
  };
  return (
    <Dialog title={`Stop ${stoppableName(what)}?`} close={close}>
      <form onSubmit={submit} {...forgetting(stop)}>
        {what.kind === 'host' && <p>Stops every subscription of every account whose URL has this host.</p>}
        <p>
          Deliveries wait until an operator starts it; those that wait too long are given up. The client sees the reason
          and cannot start it.
        </p>
        <FaultsOf error={stop.error}>
          <Field
            at="#/reason"
            label="Reason (shown to the client)"
            required
            maxLength={200}
            value={reason}
            onChange={(event) => setReason(event.target.value)}
          />
        </FaultsOf>
        <DialogTools does="Stop" isDangerous isPending={stop.isPending} close={close} />
      </form>
    </Dialog>
  );
}
