import { Link, type LinkProps } from '@tanstack/react-router';
import type { ReactNode } from 'react';
import { useAnswer } from '../../api/use-answer.ts';
import { DataTable, type TableColumn } from '../../parts/data-table.tsx';
import { Page } from '../../parts/page.tsx';
import { Found } from '../../parts/states.tsx';
import { Foreign } from '../../parts/text-block.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { useNow } from '../../parts/use-now.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { counted } from '../../parts/words.ts';
import type { AccountName, Overview, RunningService } from '../operators/types.ts';
import { WAITING_STATUSES, WaitingEndpoints } from '../operators/waiting-endpoints.tsx';

const POLL_EVERY_MS = 15_000;

/** The state of the whole system: what needs a person first, then figures that link to what they count. */
export function OperatorOverview() {
  const overview = useAnswer(['overview'], ({ operator }) => operator.GET('/v1/admin/overview'), {
    refetchInterval: POLL_EVERY_MS,
  });
  return (
    <Page
      title="Overview"
      tools={
        <span className="line">
          {overview.dataUpdatedAt > 0 && (
            <span className="small">
              As of <Moment at={new Date(overview.dataUpdatedAt).toISOString()} />
            </span>
          )}
          <button type="button" disabled={overview.isFetching} onClick={() => void overview.refetch()}>
            Refresh
          </button>
        </span>
      }
    >
      <Found of={overview} what="the overview">
        {(found) => <Figures overview={found} />}
      </Found>
    </Page>
  );
}

function Figures({ overview }: { overview: Overview }) {
  const { longest, endpoints } = overview.waiting;
  return (
    <>
      <Attention overview={overview} />
      <OperatorTiles overview={overview} />
      <section className="part" aria-labelledby="overview-waiting">
        <div className="line">
          <h2 id="overview-waiting">Waiting for their endpoint</h2>
          {endpoints > longest.objects.length && <Link to="/failing">All {endpoints.toLocaleString()} endpoints</Link>}
        </div>
        <WaitingEndpoints endpoints={longest.objects} />
      </section>
      <Services services={overview.services.objects} />
      <Queues queues={overview.queues} />
    </>
  );
}

/** Problems that need a person at once, or that there are none. */
function Attention({ overview }: { overview: Overview }) {
  const troubles = troublesOf(overview);
  if (troubles.length === 0) {
    return (
      <p className="calm line">
        <Status of="running" /> Every service runs, and every queue has a consumer.
      </p>
    );
  }
  return (
    <ul className="attention" aria-label="Needs a person">
      {troubles.map(({ key, text }) => (
        <li key={key}>{text}</li>
      ))}
    </ul>
  );
}

type Trouble = { key: string; text: ReactNode };

function troublesOf({ services, switched_off: { held }, queues, last_hour: lastHour }: Overview): Trouble[] {
  // A queue without a consumer is the effect of a service that is away: only the cause is shown.
  const away = services.objects.filter(({ processes, silent }) => processes === 0 || silent > 0);
  const unattended = (queues?.unattended ?? 0) - away.reduce((sum, each) => sum + (each.unattended ?? 0), 0);
  const troubles: Trouble[] = away.map((each) => ({ key: each.service, text: <Away service={each} /> }));
  if (held > 0)
    troubles.push({
      key: 'held',
      text: (
        <>
          <Link to="/switched-off">{counted(held, 'subscription')}</Link> would be switched off, so many at once that
          the fault may be ours: held.
        </>
      ),
    });
  if (unattended > 0)
    troubles.push({
      key: 'queues',
      text: (
        <>
          <Link to="/queues">{counted(unattended, 'queue')}</Link> without a consumer.
        </>
      ),
    });
  if (queues === null)
    troubles.push({ key: 'broker', text: 'RabbitMQ does not answer, or ADMIN_AMQP_URL is not set.' });
  if (lastHour === null) troubles.push({ key: 'hour', text: 'The last hour could not be counted in time.' });
  return troubles;
}

function Away({
  service: { service, processes, silent, silent_since: since, unattended },
}: {
  service: RunningService;
}) {
  return (
    <>
      {processes === 0 ? (
        `No ${service} runs`
      ) : (
        <>
          {silent < processes && `${silent} of ${processes}: `}
          {service} does not answer since {since !== null && <Moment at={since} />}
        </>
      )}
      {(unattended ?? 0) > 0 && (
        <>
          : its <Link to="/queues">{counted(unattended ?? 0, 'queue')}</Link>{' '}
          {unattended === 1 ? 'has no consumer' : 'have no consumer'}
        </>
      )}
      .
    </>
  );
}

/** The figures, each with a link to what it counts. */
function OperatorTiles({ overview }: { overview: Overview }) {
  const now = useNow(true);
  return (
    <ul className="tiles">
      <LastHour lastHour={overview.last_hour} now={now} />
      <Waiting waiting={overview.waiting} now={now} />
      <Off overview={overview} />
      <Rejected overview={overview} now={now} />
    </ul>
  );
}

type Now = { now: number };

function LastHour({ lastHour, now }: { lastHour: Overview['last_hour'] } & Now) {
  if (lastHour === null) return null;
  const { failed, attempts, oldest_unfinished: oldest, since } = lastHour;
  return (
    <>
      <Tile name="Failing, last hour" figure={share(failed, attempts)} to={{ to: '/failing' }}>
        {failed.toLocaleString()} of {counted(attempts, 'attempt')},{' '}
        <Link to="/deliveries" search={{ status: 'exhausted,dropped', since }}>
          those given up
        </Link>
      </Tile>
      {oldest === null ? (
        <Tile name="Oldest unfinished" figure="None" to={{ to: '/failing' }}>
          of the last hour
        </Tile>
      ) : (
        <Tile
          name="Oldest unfinished"
          figure={writtenDuration(now - Date.parse(oldest.at))}
          to={{ to: '/why', search: { text: oldest.guid } }}
        >
          {oldest.action} for <Called account={oldest.account} />, {counted(oldest.attempts, 'attempt')}
        </Tile>
      )}
    </>
  );
}

function Waiting({
  waiting: { deliveries, endpoints, shut, oldest_at: oldestAt },
  now,
}: Pick<Overview, 'waiting'> & Now) {
  return (
    <Tile
      name="Waiting for an endpoint"
      figure={deliveries.toLocaleString()}
      to={{ to: '/deliveries', search: { status: WAITING_STATUSES } }}
    >
      {counted(endpoints, 'endpoint')}, {shut.toLocaleString()} taking nothing
      {oldestAt !== null && <>, oldest {writtenDuration(now - Date.parse(oldestAt))}</>}
    </Tile>
  );
}

function Off({ overview: { switched_off: off, stopped } }: { overview: Overview }) {
  return (
    <>
      <Tile
        name="Switched off, last 24 hours"
        figure={off.lately.toLocaleString()}
        to={{ to: '/switched-off', search: { since: off.since } }}
        isBad={off.lately > 0}
      >
        <Link to="/switched-off">{off.now.toLocaleString()} off now</Link>
      </Tile>
      <Tile
        name="Stopped"
        figure={(stopped.subscriptions + stopped.hosts).toLocaleString()}
        to={{ to: '/stopped' }}
        isBad={stopped.subscriptions + stopped.hosts > 0}
      >
        {counted(stopped.subscriptions, 'subscription')}, {counted(stopped.hosts, 'host')}
      </Tile>
    </>
  );
}

function Rejected({ overview: { rejected, last_hour: lastHour }, now }: { overview: Overview } & Now) {
  const last = lastHour?.last_rejected_at ?? null;
  return (
    <Tile
      name="Rejected"
      figure={rejected === null ? 'Not known' : rejected.toLocaleString()}
      to={{ to: '/rejected' }}
      isBad={(rejected ?? 0) > 0}
    >
      {last === null ? 'none in the last hour' : `newest ${writtenDuration(now - Date.parse(last))} ago`}
    </Tile>
  );
}

type TileProps = { name: string; figure: string; to: LinkProps; isBad?: boolean; children: ReactNode };

function Tile({ name, figure, to, isBad = false, children }: TileProps) {
  return (
    <li className="card">
      <Link {...to}>
        <span>{name}</span>
        <strong className={isBad ? 'bad' : ''}>{figure}</strong>
      </Link>
      <span className="small">{children}</span>
    </li>
  );
}

function Called({ account: { guid, name } }: { account: AccountName }) {
  return <Foreign text={name ?? guid.slice(0, 8)} />;
}

function share(failed: number, attempts: number): string {
  const percent = (100 * failed) / Math.max(1, attempts);
  return `${percent.toLocaleString(undefined, { maximumFractionDigits: percent < 10 ? 1 : 0 })} %`;
}

/** The running services, by their connections to Postgres. */
function Services({ services }: { services: readonly RunningService[] }) {
  return (
    <section className="part" aria-labelledby="overview-services">
      <h2 id="overview-services">Services</h2>
      <DataTable label="Services" rows={services} columns={columns} keyOf={({ service }) => service} />
      <p className="small">
        A process counts as long as it is connected to Postgres, which it asks every five seconds; one that has not for
        15 seconds does not answer. Whether each is ready says its own <code>/readyz</code>.
      </p>
    </section>
  );
}

const columns: readonly TableColumn<RunningService>[] = [
  { header: 'Service', value: ({ service }) => service, cell: ({ service }) => service },
  {
    header: 'State',
    value: ({ processes }) => Math.min(processes, 1),
    cell: ({ processes, silent, silent_since: since }) => (
      <>
        {processes > silent && <Status of="running" />}
        {processes === 0 && <Status of="not running" />}
        {since !== null && (
          <div className="small">
            <Status of="not answering" /> {silent < processes && `${silent} of ${processes}`} since{' '}
            <Moment at={since} />
          </div>
        )}
      </>
    ),
  },
  { header: 'Processes', isNumber: true, value: ({ processes }) => processes, cell: ({ processes }) => processes },
  {
    header: 'Running since',
    cell: ({ started_at: at, last_started_at: last }) => (
      <>
        {momentOr(at, '–')}
        {last !== at && last !== null && (
          <div className="small">
            newest since <Moment at={last} />
          </div>
        )}
      </>
    ),
  },
  { header: 'Last seen', cell: ({ processes, seen_at: at }) => momentOr(at, processes === 0 ? '–' : 'connected') },
];

const momentOr = (at: string | null, other: string) => (at === null ? other : <Moment at={at} />);

function Queues({ queues }: Pick<Overview, 'queues'>) {
  return (
    <section className="part" aria-labelledby="overview-queues">
      <h2 id="overview-queues">Queues</h2>
      <p>
        {queues === null
          ? 'RabbitMQ does not say how many messages it holds.'
          : `${counted(queues.messages, 'message')} in RabbitMQ.`}{' '}
        <Link to="/queues">All queues</Link>
      </p>
    </section>
  );
}
