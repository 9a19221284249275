import type { UseQueryResult } from '@tanstack/react-query';
import { useState } from 'react';
import type { components } from '../../api/client-api.d.ts';
import { Guid } from '../../parts/guid.tsx';
import { Moment } from '../../parts/moment.tsx';
import { troubleOf } from '../../parts/states.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { mayWrite, useSignedIn } from '../../session/session.ts';
import { EndDialog } from './end-dialog.tsx';
import { HealthBars } from './health-bars.tsx';
import { ReplayDialog } from './replay-dialog.tsx';
import { SubscribeDialog } from './subscribe-dialog.tsx';
import type { Subscription } from './subscribing.ts';
import { TestDialog } from './test-dialog.tsx';
import { VerificationToken } from './verification-token.tsx';

type Statistics = components['schemas']['Statistics'];
type CardProps = { subscription: Subscription; statistics: UseQueryResult<Statistics> };
type OpenDialog = 'test' | 'change' | 'replay' | 'end';

export function SubscriptionCard({ subscription, statistics }: CardProps) {
  const { action, guid, callback_url: callbackUrl, deactivation, suspension } = subscription;
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
      {deactivation !== undefined && (
        <p className="why">
          Switched off at <Moment at={deactivation.at} />:{' '}
          {deactivation.rule === 'exhausted'
            ? 'every attempt of a delivery failed.'
            : 'every delivery of the last 24 hours failed.'}{' '}
          <em>Make the receiver answer, then change the subscription to switch it on, and replay what was missed.</em>
        </p>
      )}
      {suspension !== undefined && (
        <p className="why">
          Suspended: the account lacks the feature {suspension.feature}. <em>Ask the operator of Waybell for it.</em>
        </p>
      )}
      {buckets !== undefined && <HealthBars buckets={buckets} />}
      {trouble !== null && <p className="small">How it went is not known: {trouble.message}</p>}
      <Tools subscription={subscription} />
    </section>
  );
}

function Tools({ subscription }: { subscription: Subscription }) {
  const session = useSignedIn();
  const [asking, setAsking] = useState<OpenDialog>();
  const close = () => setAsking(undefined);
  if (!mayWrite(session)) return null;
  return (
    <>
      <VerificationToken action={subscription.action} />
      <div className="tools">
        <button type="button" onClick={() => setAsking('test')}>
          Send a test
        </button>
        <button type="button" onClick={() => setAsking('replay')}>
          What did we miss?
        </button>
        <button type="button" onClick={() => setAsking('change')}>
          {subscription.is_active ? 'Change' : 'Change or switch on'}
        </button>
        <button type="button" className="danger" onClick={() => setAsking('end')}>
          End
        </button>
        {asking === 'test' && <TestDialog subscription={subscription} close={close} />}
        {asking === 'replay' && <ReplayDialog subscription={subscription} close={close} />}
        {asking === 'change' && <SubscribeDialog current={subscription} close={close} />}
        {asking === 'end' && <EndDialog subscription={subscription} close={close} />}
      </div>
    </>
  );
}

function standingOf({ is_active: isActive, suspension }: Subscription): string {
  if (!isActive) return 'switched off';
  return suspension === undefined ? 'active' : 'suspended';
}
