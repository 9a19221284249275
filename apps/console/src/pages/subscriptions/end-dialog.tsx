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
        The subscription ends: nothing is sent for it from then on, and what waits for another attempt is dropped. To
        have it wait instead, pause the subscription.
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
