import { Link } from '@tanstack/react-router';
import type { components } from '../../api/client-api.d.ts';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Found, troubleOf } from '../../parts/states.tsx';
import { writtenHere } from '../../parts/time.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { HEALTH } from '../../parts/words.ts';
import { ActionOf, KeyNames } from '../deliveries/delivery-cells.tsx';
import { HealthBars, HealthLink, KindMark, KINDS, sumOf } from '../subscriptions/health.tsx';
import { NoSubscriptions, SubscribeButton } from '../subscriptions/subscribe-dialog.tsx';
import { SubscriptionDialogs, SwitchOnAll } from '../subscriptions/subscription-dialogs.tsx';
import { Retrying, SubscriptionTable, Waiting } from '../subscriptions/subscription-table.tsx';
import {
  useSubscriptionRows,
  type HealthBucket,
  type ListedSubscription,
  type useUnfinished,
} from '../subscriptions/use-subscription-rows.ts';

/** At most so many subscriptions are shown here; their own page has the rest, in the same order. */
const SUBSCRIPTIONS_SHOWN = 10;

const DELIVERIES_SHOWN = 20;
const POLL_EVERY_MS = 15_000;

type ListedDelivery = components['schemas']['ListedDelivery'];

/** The first page of a client: what needs attention, how the last 24 hours went, and what did not get through. */
export function ClientOverview() {
  const { subscriptions, statistics, retrying, waiting, rows } = useSubscriptionRows();
  const unread = [retrying, waiting].find((each) => each.data === undefined || troubleOf(each) !== null);
  return (
    <SubscriptionDialogs>
      <Page
        title="Overview"
        tools={<SubscribeButton current={subscriptions.data?.objects} isMain={rows.length === 0} />}
      >
        <Found of={subscriptions} what="the subscriptions">
          {({ objects }) => (objects.length === 0 ? <NoSubscriptions /> : <Attention rows={rows} />)}
        </Found>
        {unread !== undefined && (
          <Found of={unread} what="unfinished deliveries">
            {() => null}
          </Found>
        )}
        <Found of={statistics} what="the last 24 hours">
          {({ since, objects }) => objects.length > 0 && <LastDay since={since} actions={objects} />}
        </Found>
        <NotDelivered retrying={retrying} waiting={waiting} />
      </Page>
    </SubscriptionDialogs>
  );
}

function Attention({ rows }: { rows: readonly ListedSubscription[] }) {
  const troubled = rows.filter(({ condition }) => condition !== 'active' && condition !== 'not known yet');
  const isKnown = rows.every(({ condition }) => condition !== 'not known yet');
  return (
    <section className="part" aria-label="Needs attention">
      <div className="section-header">
        <h2>Needs attention</h2>
        <SwitchOnAll rows={troubled} />
      </div>
      {troubled.length === 0 && isKnown && (
        <p className="card line">
          <span className="good" aria-hidden="true">
            ✓
          </span>
          <Link to="/subscriptions">
            {rows.length === 1 ? 'Your subscription is' : `All ${rows.length} subscriptions are`} active
          </Link>
          and none fails.
        </p>
      )}
      {troubled.length > 0 && (
        <SubscriptionTable label="Subscriptions that need attention" rows={troubled.slice(0, SUBSCRIPTIONS_SHOWN)} />
      )}
      {troubled.length > SUBSCRIPTIONS_SHOWN && (
        <p>
          <Link to="/subscriptions">{troubled.length - SUBSCRIPTIONS_SHOWN} more</Link>
        </p>
      )}
    </section>
  );
}

type LastDayProps = { since: string; actions: readonly components['schemas']['StatisticsOfAction'][] };

/** The last 24 hours of all actions together. Each total links to what it counts. */
function LastDay({ since, actions }: LastDayProps) {
  const buckets = (actions[0]?.buckets ?? []).map((_bucket, hour) => together(actions, hour));
  return (
    <section className="part" aria-label="Last 24 hours">
      <div className="section-header">
        <h2>Last 24 hours</h2>
        <span className="small">since {writtenHere(since)}</span>
      </div>
      <div className="card last-day">
        <ul className="totals">
          {KINDS.map((kind) => (
            <li key={kind}>
              <HealthLink kind={kind} since={since}>
                <strong>{sumOf(buckets, kind).toLocaleString()}</strong>
                <span>
                  <KindMark kind={kind} /> {HEALTH[kind]}
                </span>
              </HealthLink>
            </li>
          ))}
        </ul>
        <HealthBars buckets={buckets} />
      </div>
      <p className="small">As each ended: what was replayed or resent counts again. Tests do not count.</p>
    </section>
  );
}

/** Sums an hour over all actions. */
function together(actions: LastDayProps['actions'], hour: number): HealthBucket {
  const same = actions.flatMap(({ buckets }) => buckets[hour] ?? []);
  return {
    at: same[0]?.at ?? '',
    delivered: sumOf(same, 'delivered'),
    retried: sumOf(same, 'retried'),
    given_up: sumOf(same, 'given_up'),
    suppressed: sumOf(same, 'suppressed'),
  };
}

type NotDeliveredProps = ReturnType<typeof useUnfinished>;

/** Deliveries that wait or are retried, and the last ones that were given up, each with a link. */
function NotDelivered({ retrying, waiting }: NotDeliveredProps) {
  const latest = useAnswer(
    ['deliveries', 'not delivered'],
    ({ client }) =>
      client.GET('/v1/deliveries', {
        params: { query: { status: ['exhausted', 'dropped'], limit: DELIVERIES_SHOWN } },
      }),
    { refetchInterval: POLL_EVERY_MS },
  );
  return (
    <section className="part" aria-label="Not delivered">
      <div className="section-header">
        <h2>Not delivered</h2>
        <Link to="/deliveries" search={{ status: 'exhausted,dropped' }}>
          All
        </Link>
      </div>
      <Unfinished retrying={retrying.data?.objects ?? []} waiting={waiting.data?.objects ?? []} />
      <Found of={latest} what="deliveries">
        {({ objects }) =>
          objects.length > 0 ? (
            <DataTable label="Not delivered" rows={objects} columns={notDeliveredColumns} keyOf={({ guid }) => guid} />
          ) : (
            retrying.data?.objects.length === 0 && waiting.data?.objects.length === 0 && <Calm />
          )
        }
      </Found>
    </section>
  );
}

type UnfinishedProps = Record<'retrying' | 'waiting', ListedSubscription['retrying']>;

function Unfinished({ retrying, waiting }: UnfinishedProps) {
  if (retrying.length + waiting.length === 0) return null;
  return (
    <p className="card line">
      {waiting.length > 0 && <Waiting waiting={waiting} />}
      {retrying.length > 0 && <Retrying retrying={retrying} />}
    </p>
  );
}

/** Shown while no delivery has failed or waits. */
function Calm() {
  const any = useAnswer(['deliveries', 'any'], ({ client }) =>
    client.GET('/v1/deliveries', { params: { query: { limit: 1 } } }),
  );
  return (
    <Found of={any} what="deliveries">
      {({ objects }) => (
        <p className="state">
          {objects.length === 0 ? 'Nothing sent yet, or no longer kept.' : 'Every delivery got through.'}
        </p>
      )}
    </Found>
  );
}

const notDeliveredColumns: readonly TableColumn<ListedDelivery>[] = [
  {
    header: 'Time',
    cell: ({ guid, at }) => (
      <Link to="/deliveries/$guid" params={{ guid }} className="row-link quietly">
        <Moment at={at} />
      </Link>
    ),
  },
  { header: 'Action', cell: (delivery) => <ActionOf delivery={delivery} /> },
  { header: 'Key', cell: ({ keys }) => <KeyNames keys={keys} /> },
  { header: 'Status', cell: ({ status }) => <Status of={status} /> },
  { header: 'Why', cell: (delivery) => whyOf(delivery) },
  { header: 'Attempts', cell: ({ attempts }) => attempts.length, isNumber: true },
];

/** Describes the receiver's last answer and its meaning. */
function whyOf({ attempts, meaning, reason }: ListedDelivery): string {
  const { http_status: status } = attempts.at(-1) ?? {};
  const words = meaning ?? reason ?? '';
  return status === undefined ? words : `HTTP ${status}: ${words}`;
}
