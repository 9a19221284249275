import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link } from '@tanstack/react-router';
import { useCallback, type ReactNode } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { Disclosure } from '../../parts/disclosure.tsx';
import { LongList } from '../../parts/long-list.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment, Status } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { DeliveryView } from './delivery-page.tsx';
import { isUnderWay, standingOf, type TimelineEvent, type Verdict } from './delivery.ts';

const route = getRouteApi('/timeline');
const PAGE_SIZE = 100;
const POLL_EVERY_MS = 5_000;

/** Everything that happened to an order, a vehicle, an offer …: events newest first, each with its results. */
export function TimelinePage() {
  const { key = '' } = route.useSearch();
  const { api } = useSignedIn();
  const pages = useInfiniteQuery({
    queryKey: ['timeline', key],
    queryFn: ({ pageParam: cursor }) =>
      answerOf(
        api.client.GET('/v1/timeline', {
          params: { query: { key, limit: PAGE_SIZE, ...(cursor !== '' && { cursor }) } },
        }),
      ),
    initialPageParam: '',
    getNextPageParam: ({ next }) => next,
    refetchInterval: ({ state: { data } }) => (data?.pages[0]?.objects.some(hasMoreToCome) ? POLL_EVERY_MS : false),
  });
  const { hasNextPage, isFetchingNextPage, fetchNextPage } = pages;
  const more = useCallback(() => {
    if (hasNextPage && !isFetchingNextPage) void fetchNextPage();
  }, [hasNextPage, isFetchingNextPage, fetchNextPage]);
  return (
    <Page
      title={`Timeline of ${key}`}
      tools={
        <Link to="/deliveries" search={{ key }}>
          All deliveries
        </Link>
      }
    >
      <Found of={pages} what="the timeline">
        {({ pages: found }) => {
          const events = found.flatMap(({ objects }) => objects);
          if (events.length === 0) return <Nothing text={key} />;
          return (
            <LongList label="Events, newest first" items={events} keyOf={keyOf} onEnd={more} estimatedPx={96}>
              {(event) => <EventEntry event={event} />}
            </LongList>
          );
        }}
      </Found>
    </Page>
  );
}

const keyOf = ({ event_guid, at, action }: TimelineEvent) => `${event_guid} ${at} ${action}`;

const hasMoreToCome = ({ verdicts }: TimelineEvent) =>
  verdicts.some((verdict) => verdict.kind === 'delivery' && isUnderWay(verdict.delivery));

function Nothing({ text }: { text: string }) {
  return (
    <Empty>
      <p>
        Nothing found for “<Foreign text={text} />
        ”: no event of this account mentions it, or it is older than the log.
      </p>
      <p>
        Look among the <Link to="/subscriptions">subscriptions</Link>, or watch <Link to="/live">what happens now</Link>
        .
      </p>
    </Empty>
  );
}

function EventEntry({ event }: { event: TimelineEvent }) {
  return (
    <section className="event" aria-label={`${event.action} ${event.event_guid}`}>
      <div className="line">
        <strong>{event.action}</strong>
        <Guid guid={event.event_guid} />
        <Moment at={event.at} />
      </div>
      {event.verdicts.map((verdict, place) => (
        <VerdictLine key={verdict.kind === 'delivery' ? verdict.delivery.guid : place} verdict={verdict} />
      ))}
    </section>
  );
}

function VerdictLine({ verdict }: { verdict: Verdict }) {
  switch (verdict.kind) {
    case 'delivery': {
      const { delivery } = verdict;
      return (
        <Disclosure
          summary={
            <>
              <Status of={standingOf(delivery)} />
              <Guid guid={delivery.guid} />
              <span>{counted(delivery.attempts.length, 'attempt')}</span>
              {delivery.reason !== undefined && <code>{delivery.reason}</code>}
            </>
          }
        >
          {() => <DeliveryView guid={delivery.guid} />}
        </Disclosure>
      );
    }
    case 'suppressed':
      return <Suppressed verdict={verdict} />;
    case 'rejected':
      return <RejectedVerdict verdict={verdict} />;
  }
}

type Of<Kind extends Verdict['kind']> = Omit<Extract<Verdict, { kind: Kind }>, 'kind'>;

/** Explains why an event made no delivery for `recipient`. */
export function Suppressed({ verdict, recipient }: { verdict: Of<'suppressed'>; recipient?: ReactNode }) {
  return (
    <p className="verdict">
      <Status of="suppressed" /> {recipient} <code>{verdict.cause ?? verdict.reason}</code> {verdict.meaning}{' '}
      <em>{verdict.remedy}</em>
      {verdict.cause_at !== undefined && (
        <>
          {' '}
          (<Moment at={verdict.cause_at} />)
        </>
      )}
    </p>
  );
}

/** Explains why an event was rejected; `next`: what can be done about it here. */
export function RejectedVerdict({ verdict, next }: { verdict: Of<'rejected'>; next?: ReactNode }) {
  return (
    <p className="verdict">
      <Status of="rejected" /> <code>{verdict.reason}</code> {verdict.meaning} <Foreign text={verdict.detail} />{' '}
      <em>{verdict.remedy}</em> {next}
    </p>
  );
}
