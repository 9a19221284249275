import type { UseQueryResult } from '@tanstack/react-query';
import type { components } from '../../api/client-api.d.ts';
import { Guid } from '../../parts/guid.tsx';
import { Moment } from '../../parts/moment.tsx';
import { troubleOf } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { HealthBars } from './health-bars.tsx';
import { Standing, standingOf } from './standing.tsx';
import type { Subscription } from './subscribing.ts';
import { SubscriptionTools } from './subscription-tools.tsx';
import { VerificationToken } from './verification-token.tsx';

type Statistics = components['schemas']['Statistics'];
type CardProps = { subscription: Subscription; statistics: UseQueryResult<Statistics> };

export function SubscriptionCard({ subscription, statistics }: CardProps) {
  const { action, guid, callback_url: callbackUrl } = subscription;
  const session = useSignedIn();
  const trouble = troubleOf(statistics);
  const buckets = statistics.data?.objects.find((each) => each.action === action)?.buckets;
  return (
    <section className="card subscription" aria-label={action}>
      <div className="line">
        <h2>{action}</h2>
        <Status of={standingOf(subscription)} />
        <Guid guid={guid} />
        <span className="quietly">
          since <Moment at={subscription.created_at} />
        </span>
      </div>
      <p>
        <Foreign text={callbackUrl} />
      </p>
      <Standing subscription={subscription} />
      {buckets !== undefined && <HealthBars buckets={buckets} />}
      {trouble !== null && <p className="small">How it went is not known: {trouble.message}</p>}
      {mayWrite(session) && (
        <>
          <VerificationToken guid={guid} />
          <SubscriptionTools subscription={subscription} />
        </>
      )}
    </section>
  );
}
