import { Dialog } from '../../parts/dialog.tsx';
import { DialogTools } from '../../parts/dialog-tools.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { unsubscribe, useSubscriptionChange, type Subscription } from './subscribing.ts';

type EndProps = { subscription: Subscription; close: () => void };

export function EndDialog({ subscription: { action }, close }: EndProps) {
  const session = useSignedIn();
  const tell = useTell();
  const end = useSubscriptionChange(
    () => unsubscribe(session, action),
    () => {
      tell(`Unsubscribed from ${action}.`);
      close();
    },
  );
  return (
    <Dialog title={`Unsubscribe from ${action}?`} close={close}>
      <p>
        Ends the subscription. Deliveries that are waiting or retrying are dropped. To keep them waiting, pause it
        instead.
      </p>
      {end.error !== null && <Failed error={end.error} />}
      <DialogTools
        does="Unsubscribe"
        isDangerous
        isPending={end.isPending}
        close={close}
        onClick={() => end.mutate()}
      />
    </Dialog>
  );
}
