import { told } from '../../api/ask.ts';
import { useTell } from '../../parts/notices.tsx';
import { Failed } from '../../parts/states.tsx';
import { useSignedIn } from '../../session/session.ts';
import { useSubscriptionChange, type Subscription } from './subscribing.ts';

/** Ends a pause: what waited is sent. */
export function ResumeButton({ subscription: { guid, action } }: { subscription: Subscription }) {
  const { ask } = useSignedIn();
  const tell = useTell();
  const resume = useSubscriptionChange(
    () => told(ask.client.POST('/v1/subscriptions/{guid}/resume', { params: { path: { guid } }, body: {} })),
    () => tell(`${action} resumed. Waiting deliveries are being sent.`),
  );
  return (
    <>
      <button type="button" disabled={resume.isPending} onClick={() => resume.mutate()}>
        Resume
      </button>
      {resume.error !== null && <Failed error={resume.error} />}
    </>
  );
}
