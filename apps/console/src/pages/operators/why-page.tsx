import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { told } from '../../api/ask.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { useSignedIn } from '../../session/session.ts';
import { isUnderWay } from '../find/types.ts';
import type { Told } from './types.ts';
import { Candidates } from './why/candidates.tsx';
import { DeliveryTold } from './why/delivery-told.tsx';
import { EventTimeline } from './why/event-timeline.tsx';
import { SubscriptionTold } from './why/subscription-told.tsx';

const route = getRouteApi('/why');
const PAGE_SIZE = 50;
const LOOK_EVERY_MS = 3_000;

/** The result of a search by a number, a name, a URL, or any guid: why callbacks did, or did not, arrive. */
export function WhyPage() {
  const { text = '' } = route.useSearch();
  const pages = useWhy(text);
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  const isUnknown = pages.error instanceof ProblemAnswer && pages.error.status === 404 && pages.data === undefined;
  return (
    <Page title={text}>
      {isUnknown ? (
        <Nothing text={text} />
      ) : (
        <Found of={pages} what={text}>
          {(found) => <Answer text={text} pages={found.pages} more={more} />}
        </Found>
      )}
    </Page>
  );
}

function useWhy(text: string) {
  const { as, kind } = route.useSearch();
  const { ask } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['why', text, as, kind],
    queryFn: ({ pageParam: cursor }) =>
      told(
        ask.operator.GET('/v1/admin/why', {
          params: {
            query: {
              anything: text,
              limit: PAGE_SIZE,
              ...(isFoundKind(as) && { as }),
              ...(kind !== undefined && { kind }),
              ...(cursor !== '' && { cursor }),
            },
          },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: (page) => (page.kind === 'events' ? page.next : null),
    refetchInterval: ({ state: { data } }) => (data?.pages[0] && hasMoreToCome(data.pages[0]) ? LOOK_EVERY_MS : false),
  });
}

type AnswerProps = { text: string; pages: readonly Told[]; more: () => void };

function Answer({ text, pages, more }: AnswerProps) {
  const [first] = pages;
  if (first === undefined) return null;
  switch (first.kind) {
    case 'several':
      return <Candidates text={text} candidates={first.objects} />;
    case 'events':
      return (
        <EventTimeline events={pages.flatMap((page) => (page.kind === 'events' ? page.objects : []))} more={more} />
      );
    case 'delivery':
      return <DeliveryTold delivery={first.delivery} />;
    case 'subscription':
      return <SubscriptionTold subscription={first.subscription} deliveries={first.deliveries} />;
    case 'account':
      return <Navigate to="/accounts/$guid" params={{ guid: first.account.guid }} replace />;
  }
}

function Nothing({ text }: { text: string }) {
  return (
    <Empty>
      <p>
        Nothing found for “<Foreign text={text} />” in what the log keeps. What could hardly be read may be among the{' '}
        <Link to="/rejected" search={{ about: text }}>
          rejected events
        </Link>
        .
      </p>
    </Empty>
  );
}

function hasMoreToCome(page: Told): boolean {
  if (page.kind === 'delivery') return isUnderWay(page.delivery);
  if (page.kind !== 'events') return false;
  return page.objects.some(({ verdicts }) =>
    verdicts.some((verdict) => verdict.kind === 'delivery' && isUnderWay(verdict.delivery)),
  );
}

const KINDS = ['event', 'delivery', 'key', 'subscription', 'account'] as const;
const isFoundKind = (as: string | undefined): as is (typeof KINDS)[number] => KINDS.some((kind) => kind === as);
