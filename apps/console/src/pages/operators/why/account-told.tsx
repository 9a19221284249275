import { Empty } from '../../../parts/states.tsx';
import { AccountLink } from '../links.tsx';
import { SubscriptionTable } from '../subscription-table.tsx';
import type { Account, OperatorDelivery, OperatorSubscription } from '../types.ts';
import { DeliveryTable } from './delivery-table.tsx';

type AccountToldProps = {
  account: Account;
  deliveries: readonly OperatorDelivery[];
  subscriptions: readonly OperatorSubscription[];
};

/** An account: what it subscribes to now, and its latest deliveries. */
export function AccountTold({ account, deliveries, subscriptions }: AccountToldProps) {
  return (
    <>
      <p className="line card">
        <AccountLink account={account} />
        <span className="tag">{account.interface}</span>
        {account.features.map((feature) => (
          <span key={feature} className="tag">
            {feature}
          </span>
        ))}
      </p>
      <section className="part" aria-labelledby="why-subscriptions">
        <h2 id="why-subscriptions">Current subscriptions</h2>
        {subscriptions.length === 0 ? (
          <Empty>It subscribes to nothing.</Empty>
        ) : (
          <SubscriptionTable subscriptions={subscriptions} />
        )}
      </section>
      <section className="part" aria-labelledby="why-deliveries">
        <h2 id="why-deliveries">Its latest deliveries</h2>
        <DeliveryTable deliveries={deliveries} />
      </section>
    </>
  );
}
