import { ms, time } from '@waybell/delivery-log/tables';
import { isOfListener } from '@waybell/delivery-log/listener-client';
import type { ServiceName } from '@waybell/line/line-topology';
import { APPLICATION_NAME, type Queryable } from '@waybell/runtime/postgres';

export type RunningService = {
  service: ServiceName | 'subscription-api';
  /** Number of its processes that are connected to Postgres. */
  processes: number;
  /** Starts of its oldest and of its newest process. Times are milliseconds since the epoch; null: none runs. */
  startedAt: number | null;
  lastStartedAt: number | null;
  /** When one of its processes last queried Postgres; null also if this user may not see that. */
  seenAt: number | null;
  /** Number of its processes that query nothing any more, and since when the first of them does not. */
  silent: number;
  silentSince: number | null;
};

const SERVICES: readonly RunningService['service'][] = [
  'event-router',
  'deliverer',
  'deactivator',
  'delivery-log',
  'location-tracker',
  'subscription-api',
];

/** Each process has a connection at any time, as it compares clocks every five seconds: one that does not for three times as long hangs. */
const SILENT_AFTER_MS = 15_000;
const IS_SILENT = `seen < clock_timestamp() - $2 * interval '1 millisecond'`;
const RUNNING = `
  select wanted.service, count(process)::int as processes, min(started) as "startedAt",
    max(started) as "lastStartedAt", ${ms('max(seen)')} as "seenAt",
    count(*) filter (where ${IS_SILENT})::int as silent, ${ms(`min(seen) filter (where ${IS_SILENT})`)} as "silentSince"
  from unnest($1::text[]) with ordinality as wanted (service, place)
  left join (
    select application_name as process, substring(split_part(application_name, ' ', 1) from 9) as service,
      split_part(application_name, ' ', 3) collate "C" as started, max(state_change) as seen
    from pg_stat_activity where datname = current_database() and application_name ~ '${APPLICATION_NAME}'
    group by application_name
  ) running using (service)
  group by wanted.service, place order by place`;

/** Finds which services run, from their connections to Postgres. */
export async function runningServices(
  postgres: Queryable,
  silentAfterMs: number = SILENT_AFTER_MS,
): Promise<RunningService[]> {
  const { rows } = await postgres.query<RunningRow>(RUNNING, [SERVICES, silentAfterMs]);
  return rows.map((row) => ({ ...row, startedAt: timeIn(row.startedAt), lastStartedAt: timeIn(row.lastStartedAt) }));
}

type RunningRow = Omit<RunningService, 'startedAt' | 'lastStartedAt'> &
  Record<'startedAt' | 'lastStartedAt', string | null>;

/** Reads the time in the name of a connection; null if it is none, as anybody may name a connection. */
const timeIn = (text: string | null): number | null => Date.parse(text ?? '') || null;

/** Counts of attempts and rejected events since a time, without tests by hand and listeners. */
export type Lately = { failed: number; attempts: number; rejected: number; lastRejectedAt: number | null };

const LATELY = `
  select attempts.*, rejected.* from (
    select count(*) filter (where kind <> 'delivered')::int as failed, count(*)::int as attempts
    from delivery_log.attempts a
    where at >= ${time('$1')} and kind <> 'dropped' and by_hand is distinct from 'test' and not ${isOfListener('a.subscription')}
  ) attempts cross join (
    select count(distinct event)::int as rejected, ${ms('max(at)')} as "lastRejectedAt"
    from delivery_log.events where at >= ${time('$1')} and rejected_reason is not null
  ) rejected`;

/** Counts attempts and rejected events since a time. Reads all of them: an hour of a busy system takes seconds. */
export async function countLately(postgres: Queryable, sinceMs: number): Promise<Lately> {
  return one(await postgres.query<Lately>(LATELY, [sinceMs]));
}

/** Numbers of subscriptions that are off, of those that went off since a time, and of what operators have stopped. */
export type OffCounts = { off: number; offLately: number; stoppedSubscriptions: number; stoppedHosts: number };

const OFF = `
  select off.*,
    (select count(*) from waybell.subscriptions where stopped_at is not null)::int as "stoppedSubscriptions",
    (select count(*) from waybell.stopped_hosts)::int as "stoppedHosts"
  from (
    select count(*)::int as off, count(*) filter (where deactivated_at >= ${time('$1')})::int as "offLately"
    from waybell.subscriptions where not is_active and ended_at is null and deactivated_at is not null
  ) off`;

export async function countOff(postgres: Queryable, sinceMs: number): Promise<OffCounts> {
  return one(await postgres.query<OffCounts>(OFF, [sinceMs]));
}

function one<Row>({ rows: [row] }: { rows: Row[] }): Row {
  if (row === undefined) throw new TypeError('a count has one row');
  return row;
}
