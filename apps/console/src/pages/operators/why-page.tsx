import { useInfiniteQuery } from '@tanstack/react-query';
import { getRouteApi, Link, Navigate } from '@tanstack/react-router';
import { useCallback } from 'react';
import { answerOf } from '../../api/create-api.ts';
import { ProblemAnswer } from '../../api/problem.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Empty, Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { Guid, Moment, Status } from '../../parts/values.tsx';
import { counted, ruleInWords } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { isUnderWay, standingOf } from '../find/delivery.ts';
import { DeliveryDetails, EventTimeline } from './event-timeline.tsx';
import { AccountLink, ClientLink, OwnerLinks, WhyLink } from './links.tsx';
import { StopButton } from './stop-button.tsx';
import { SubscriptionStanding } from './subscription-standing.tsx';
import type { Candidate, OperatorDelivery, OperatorSubscription, WhyAnswer } from './types.ts';

const route = getRouteApi('/why');
const PAGE_SIZE = 50;
const POLL_EVERY_MS = 3_000;

/** The API returns at most so many candidates of each kind. */
const MOST_OF_A_KIND = 20;
const HOST_OR_URL = /[.:]/;

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
  const { api } = useSignedIn();
  return useInfiniteQuery({
    queryKey: ['why', text, as, kind],
    queryFn: ({ pageParam: cursor }) =>
      answerOf(
        api.operator.GET('/v1/admin/why', {
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
    refetchInterval: ({ state: { data } }) => (data?.pages[0] && hasMoreToCome(data.pages[0]) ? POLL_EVERY_MS : false),
  });
}

const KINDS = ['event', 'delivery', 'key', 'subscription', 'account'] as const;
const isFoundKind = (as: string | undefined): as is (typeof KINDS)[number] => KINDS.some((kind) => kind === as);

function hasMoreToCome(page: WhyAnswer): boolean {
  if (page.kind === 'delivery') return isUnderWay(page.delivery);
  if (page.kind !== 'events') return false;
  return page.objects.some(({ verdicts }) =>
    verdicts.some((verdict) => verdict.kind === 'delivery' && isUnderWay(verdict.delivery)),
  );
}

type AnswerProps = { text: string; pages: readonly WhyAnswer[]; more: () => void };

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
      return <DeliveryDetails delivery={first.delivery} />;
    case 'subscription':
      return <SubscriptionDetails subscription={first.subscription} deliveries={first.deliveries} />;
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

/** Possible meanings of a text, each with a link. */
function Candidates({ text, candidates }: { text: string; candidates: readonly Candidate[] }) {
  const hasMore = candidates.length >= MOST_OF_A_KIND;
  const isEndpoint = HOST_OR_URL.test(text) && candidates.some(({ kind }) => kind === 'subscription');
  return (
    <section className="part" aria-labelledby="why-candidates">
      <div className="line">
        <h2 id="why-candidates">
          {hasMore ? `${candidates.length} matches or more` : counted(candidates.length, 'match', 'matches')}
        </h2>
        {isEndpoint && (
          <Link to="/deliveries" search={{ endpoint: text }}>
            Deliveries to this endpoint
          </Link>
        )}
      </div>
      <DataTable
        label="Matches"
        rows={candidates.map((candidate) => ({ candidate, text }))}
        columns={candidateColumns}
        keyOf={({ candidate }) => JSON.stringify(candidate)}
      />
    </section>
  );
}

type MatchRow = { candidate: Candidate; text: string };

const kindOf = (candidate: Candidate): string =>
  candidate.kind === 'key' ? candidate.key_kind.replaceAll('_', ' ') : candidate.kind;

const candidateColumns: readonly TableColumn<MatchRow>[] = [
  { header: 'Match', cell: (row) => <Leading {...row} /> },
  { header: 'Kind', value: ({ candidate }) => kindOf(candidate), cell: ({ candidate }) => kindOf(candidate) },
  { header: 'About', cell: ({ candidate }) => <Described candidate={candidate} /> },
  {
    header: 'Account, client',
    cell: ({ candidate }) => 'client_id' in candidate && <OwnerLinks {...candidate} />,
  },
  { header: 'Time', value: ({ candidate: { at } }) => at, cell: ({ candidate: { at } }) => <Moment at={at} /> },
];

function Leading({ candidate, text }: MatchRow) {
  if (candidate.kind === 'account') return <AccountLink account={candidate} />;
  if (candidate.kind === 'key') {
    return (
      <Link to="/why" search={{ text, as: 'key', kind: candidate.key_kind }}>
        <Foreign text={candidate.key} />
      </Link>
    );
  }
  return (
    <Link to="/why" search={{ text: candidate.guid, as: candidate.kind }}>
      <Guid guid={candidate.guid} />
    </Link>
  );
}

function Described({ candidate }: { candidate: Candidate }) {
  if (candidate.kind === 'key')
    return candidate.events >= 1_000 ? '1,000 events or more' : counted(candidate.events, 'event');
  return (
    <>
      {candidate.kind !== 'account' && candidate.action} <span className="tag">{candidate.interface}</span>
      {candidate.kind === 'subscription' && (
        <div>
          <Foreign text={candidate.url} />
        </div>
      )}
    </>
  );
}

type SubscriptionDetailsProps = { subscription: OperatorSubscription; deliveries: readonly OperatorDelivery[] };

/** A subscription: its state, when it was switched off and on, and its latest deliveries. */
function SubscriptionDetails({ subscription, deliveries }: SubscriptionDetailsProps) {
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

/** The latest deliveries, each with a link to its history. */
function DeliveryTable({ deliveries }: { deliveries: readonly OperatorDelivery[] }) {
  if (deliveries.length === 0) return <Empty>No deliveries.</Empty>;
  return <DataTable label="Latest deliveries" rows={deliveries} columns={deliveryColumns} keyOf={({ guid }) => guid} />;
}

const deliveryColumns: readonly TableColumn<OperatorDelivery>[] = [
  { header: 'Delivery', cell: ({ guid }) => <WhyLink guid={guid} /> },
  { header: 'State', value: standingOf, cell: (delivery) => <Status of={standingOf(delivery)} /> },
  { header: 'Action', value: ({ action }) => action, cell: ({ action }) => action },
  { header: 'Created', value: ({ at }) => at, cell: ({ at }) => <Moment at={at} /> },
  {
    header: 'Attempts',
    isNumber: true,
    value: ({ attempts }) => attempts.length,
    cell: ({ attempts }) => attempts.length,
  },
  {
    header: 'Reason',
    value: ({ reason }) => reason ?? '',
    cell: ({ reason }) => (reason === undefined ? '–' : <code>{reason}</code>),
  },
  { header: 'Event', cell: ({ event_guid }) => <WhyLink guid={event_guid} /> },
];
