import { Link } from '@tanstack/react-router';
import { Moment } from '../../../parts/moment.tsx';
import { ruleInWords } from '../../../parts/words.ts';
import { Foreign } from '../../../parts/text-block.tsx';
import { AccountLink, ClientLink } from '../links.tsx';
import { StopButton } from '../stops/stop-button.tsx';
import { SubscriptionStanding } from '../subscription-standing.tsx';
import type { OperatorDelivery, OperatorSubscription } from '../types.ts';
import { DeliveryTable } from './delivery-table.tsx';

type SubscriptionToldProps = { subscription: OperatorSubscription; deliveries: readonly OperatorDelivery[] };

/** A subscription: how it stands, when it was switched, and its latest deliveries. */
export function SubscriptionTold({ subscription, deliveries }: SubscriptionToldProps) {
  const { guid, action, account, client_id, url, created_at, ended_at, failing_since, last_success_at } = subscription;
  return (
    <>
      <section className="part card" aria-label={`Subscription ${guid}`}>
        <div className="line">
          <SubscriptionStanding subscription={subscription} />
          <strong>{action}</strong>
          <span className="tag">{subscription.interface}</span>
          <code>{guid}</code>
          <Link to="/audit" search={{ subscription: guid }}>
            Audit log
          </Link>
          {ended_at === null && <StopButton what={{ kind: 'subscription', guid, action }} />}
        </div>
        <p className="small line">
          <span>Account</span> <AccountLink account={account} />
          <span>Client</span> <ClientLink account={account.guid} client={client_id} page="/subscriptions" />
          <span>URL</span> <Foreign text={url} />
        </p>
        <dl className="facts">
          <Fact name="Created" at={created_at} />
          <Fact name="Ended" at={ended_at} />
          <Fact name="Failing since" at={failing_since} />
          <Fact name="Last success" at={last_success_at} />
        </dl>
        <Switches switches={subscription.switches} />
      </section>
      <section className="part" aria-labelledby="why-deliveries">
        <div className="line">
          <h2 id="why-deliveries">Latest deliveries</h2>
          <Link to="/deliveries" search={{ subscription: guid }}>
            All
          </Link>
        </div>
        <DeliveryTable deliveries={deliveries} />
      </section>
    </>
  );
}

function Fact({ name, at }: { name: string; at: string | null | undefined }) {
  if (at === null || at === undefined) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>
        <Moment at={at} />
      </dd>
    </div>
  );
}

function Switches({ switches }: Pick<OperatorSubscription, 'switches'>) {
  if (switches.length === 0) return <p className="small">Never switched off.</p>;
  return (
    <ol>
      {switches.map(({ at, is_on, rule }) => (
        <li key={at}>
          <Moment at={at} />:{' '}
          {is_on ? 'switched on' : `switched off, ${rule === undefined ? 'why is not known' : ruleInWords(rule)}`}
        </li>
      ))}
    </ol>
  );
}
