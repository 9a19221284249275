import { Disclosure } from '../../../parts/disclosure.tsx';
import { Empty, Found } from '../../../parts/states.tsx';
import { counted } from '../../../parts/counted.ts';
import { SubscriptionTable } from '../subscription-table.tsx';
import type { OperatorSubscription } from '../types.ts';
import type { useAccountSubscriptions } from './use-account-subscriptions.ts';

/** An account's subscriptions, those with trouble first, and below its former ones. */
export function AccountSubscriptions({ pages }: { pages: ReturnType<typeof useAccountSubscriptions> }) {
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  return (
    <section className="part" aria-labelledby="account-subscriptions">
      <h2 id="account-subscriptions">Subscriptions</h2>
      <Found of={pages} what="the subscriptions">
        {(subscriptions) => (
          <>
            <All subscriptions={subscriptions} />
            {hasNextPage && (
              <div className="tools">
                <button type="button" disabled={isFetchingNextPage} onClick={() => void fetchNextPage()}>
                  {isFetchingNextPage ? 'Loading …' : 'Load more'}
                </button>
              </div>
            )}
          </>
        )}
      </Found>
    </section>
  );
}

function All({ subscriptions }: { subscriptions: readonly OperatorSubscription[] }) {
  const current = subscriptions.filter(({ ended_at }) => ended_at === null);
  const ended = subscriptions.filter(({ ended_at }) => ended_at !== null);
  return (
    <>
      {current.length === 0 ? <Empty>No current subscriptions.</Empty> : <SubscriptionTable subscriptions={current} />}
      {ended.length > 0 && (
        <Disclosure summary={<span>{counted(ended.length, 'ended subscription')}</span>}>
          {() => <SubscriptionTable subscriptions={ended} label="Ended subscriptions" />}
        </Disclosure>
      )}
    </>
  );
}
