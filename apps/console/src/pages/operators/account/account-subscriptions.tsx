import { useInfiniteQuery } from '@tanstack/react-query';
import { useMemo } from 'react';
import { told } from '../../../api/ask.ts';
import { Empty, Found } from '../../../parts/states.tsx';
import { useSignedIn } from '../../../session/session.ts';
import { SubscriptionTable } from '../subscription-table.tsx';
import type { OperatorSubscription } from '../types.ts';

const PAGE_SIZE = 100;

/** What an account has subscribed to, and had, the newest first. */
export function AccountSubscriptions({ guid }: { guid: string }) {
  const { ask } = useSignedIn();
  const pages = useInfiniteQuery({
    queryKey: ['subscriptions of', guid],
    queryFn: ({ pageParam: cursor }) =>
      told(
        ask.operator.GET('/v1/admin/accounts/{guid}/subscriptions', {
          params: { path: { guid }, query: { limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  return (
    <section className="part" aria-labelledby="account-subscriptions">
      <h2 id="account-subscriptions">Subscriptions</h2>
      <Found of={pages} what="the subscriptions">
        {(found) => (
          <>
            <All pages={found.pages} />
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

function All({ pages }: { pages: readonly { objects: readonly OperatorSubscription[] }[] }) {
  const subscriptions = useMemo(() => pages.flatMap(({ objects }) => objects), [pages]);
  if (subscriptions.length === 0) return <Empty>It has never subscribed to anything.</Empty>;
  return <SubscriptionTable subscriptions={subscriptions} />;
}
