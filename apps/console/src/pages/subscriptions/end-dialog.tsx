import { useMutation, useQueryClient } from '@tanstack/react-query';
import { Dialog } from '../../parts/dialog.tsx';
import { useTell } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { subscribing, type Subscription } from './subscribing.ts';

type EndProps = { subscription: Subscription; close: () => void };

export function EndDialog({ subscription: { action }, close }: EndProps) {
  const session = useSignedIn();
  const queries = useQueryClient();
  const tell = useTell();
  const end = useMutation({
    mutationFn: () => subscribing(session).end(action),
    onSuccess: async () => {
      tell(`The subscription to ${action} has ended.`);
      close();
      await queries.invalidateQueries({ queryKey: ['subscriptions'] });
    },
  });
  return (
    <Dialog title={`End the subscription to ${action}?`} close={close}>
      <p>Nothing is sent for it from then on, and what waits for another attempt is dropped.</p>
      {end.error !== null && <Failed error={end.error} />}
      <div className="tools">
        <button type="button" className="danger" disabled={end.isPending} onClick={() => end.mutate()}>
          End it
        </button>
        <button type="button" onClick={close}>
          Keep it
        </button>
      </div>
    </Dialog>
  );
}
