/** Reads a client's latest rows by indexes over time: a bounded number, however many there are. */
import type { Queryable } from '@waybell/runtime/postgres';
import { ms, time } from '../columns.ts';
import { DELIVERED_OR_RETRIED, NOT_DELIVERED, type AttemptRow } from '../tables.ts';
import { firstAttempt } from './attempts.ts';
import type { ClientReader } from './entries.ts';
import { attemptColumns, deliveryColumns, SKEW_MS, type DeliveryRow } from './log-tables.ts';

/** `fromMs`: the earliest end, or routing, of the rows. `most`: limit of rows of each kind, the newest. */
export type LiveLook = { reader: ClientReader; actions: readonly string[]; fromMs: number; most: number };

export type AttemptFound = { action: string; callbackUrl: string; event?: string; attempt: AttemptRow };

export type EventFound = { event: string; at: number };

/** `unreadBefore`: there were more than `most`, and rows before this time were not read. */
export type LiveRows<T> = { found: T[]; unreadBefore?: number };

/** A client's subscriptions, without those that ended so long before that nothing can still be sent to them. */
const SUBSCRIPTIONS = `select guid, action, split_part(callback_url, '?', 1) as callback_url from waybell.subscriptions
  where account_guid = $1 and client_id = $2 and interface = $3
    and (ended_at is null or ended_at > ${time('$4')} - interval '2 days')`;
const FROM = time('$4');
const LIMIT = '$5';
const SKEW = `interval '${SKEW_MS} milliseconds'`;

const valuesOf = ({ reader: { account, client, interface: interfaceName }, fromMs, most }: LiveLook): unknown[] => [
  account,
  client,
  interfaceName,
  fromMs,
  most,
];

/** Finds first attempts in the rows of their deliveries, which are up to a minute older. */
export async function latestFirstAttempts(postgres: Queryable, look: LiveLook): Promise<LiveRows<AttemptFound>> {
  type Row = DeliveryRow & { callbackUrl: string; looked: number; oldestAt: number };
  const { rows } = await postgres.query<Row>({
    name: 'live-first-attempts',
    text: `select ${deliveryColumns('false')}, d.callback_url as "callbackUrl", d.looked, ${ms('d.oldest_at')} as "oldestAt" from (
             select d.*, (count(*) over ())::int as looked, min(d.at) over () as oldest_at from (
               select d.*, s.callback_url from (${SUBSCRIPTIONS}) s
               cross join lateral (
                 select * from delivery_log.deliveries d where d.subscription = s.guid and d.at >= ${FROM} - ${SKEW}
                 order by d.at desc limit ${LIMIT}
               ) d
               order by d.at desc limit ${LIMIT}
             ) d
           ) d where d.attempted_at >= ${FROM}`,
    values: valuesOf(look),
  });
  const found = rows.flatMap((row) => {
    const { action, callbackUrl, event } = row;
    return firstAttempt(row).map((attempt) => ({ action, callbackUrl, event, attempt }));
  });
  const [first] = rows;
  return first === undefined || first.looked < look.most ? { found } : { found, unreadBefore: first.oldestAt };
}

/** Finds attempts in rows of their own: those in vain, and the others. */
export async function latestAttempts(postgres: Queryable, look: LiveLook): Promise<LiveRows<AttemptFound>[]> {
  const found: LiveRows<AttemptFound>[] = [];
  for (const [name, which] of [
    ['live-attempts-in-vain', NOT_DELIVERED],
    ['live-attempts', DELIVERED_OR_RETRIED],
  ] as const) {
    const { rows } = await postgres.query<AttemptRow & { action: string; callbackUrl: string }>({
      name,
      text: `select ${attemptColumns('false')}, a.action, a.callback_url as "callbackUrl" from (
               select a.*, s.action, s.callback_url from (${SUBSCRIPTIONS}) s
               cross join lateral (
                 select * from delivery_log.attempts where subscription = s.guid and ${which} and at >= ${FROM}
                 order by at desc limit ${LIMIT}
               ) a
               order by a.at desc limit ${LIMIT}
             ) a`,
      values: valuesOf(look),
    });
    const attempts = rows.map(({ action, callbackUrl, ...attempt }) => ({ action, callbackUrl, attempt }));
    found.push(bounded(attempts, look.most, ({ attempt }) => attempt.at));
  }
  return found;
}

/** Finds kept events for the account, whatever became of them; an event is kept if it is known to be for the account. */
export async function latestEvents(postgres: Queryable, look: LiveLook): Promise<LiveRows<EventFound>> {
  const { rows } = await postgres.query<EventFound>({
    name: 'live-events',
    text: `select k.event, ${ms('k.at')} as at from unnest($2::text[]) as asked (name)
           cross join lateral (
             select event, at from delivery_log.kept_events
             where account = $1 and action = asked.name and at >= ${time('$3')}
             order by at desc limit $4
           ) k
           order by k.at desc limit $4`,
    values: [look.reader.account, look.actions, look.fromMs, look.most],
  });
  return bounded(rows, look.most, ({ at }) => at);
}

/** `found` is ordered by time, newest first. */
function bounded<T>(found: T[], most: number, atOf: (each: T) => number): LiveRows<T> {
  const last = found.at(-1);
  return last === undefined || found.length < most ? { found } : { found, unreadBefore: atOf(last) };
}

/** Most deliveries end within a day. */
const SOON_MS = 2 * 86_400_000;

/** Finds the event of each of these deliveries, if the log has it. */
export async function eventsOfDeliveries(
  postgres: Queryable,
  attempts: readonly Pick<AttemptRow, 'delivery' | 'at'>[],
): Promise<ReadonlyMap<string, string>> {
  const found = new Map<string, string>();
  for (const withinMs of [SOON_MS, Infinity]) {
    const wanted = attempts.filter(({ delivery }) => !found.has(delivery));
    if (wanted.length === 0) break;
    const { rows } = await postgres.query<{ delivery: string; event: string }>({
      name: 'live-events-of-deliveries',
      // `offset 0` keeps Postgres from reading whole days for the join.
      text: `select wanted.delivery, d.event from unnest($1::uuid[], $2::float8[], $3::float8[]) as wanted (delivery, from_ms, until_ms)
             cross join lateral (
               select event from delivery_log.deliveries m
               where m.delivery = wanted.delivery and m.at >= ${time('from_ms')} and m.at <= ${time('until_ms')} limit 1 offset 0
             ) d`,
      values: [
        wanted.map(({ delivery }) => delivery),
        wanted.map(({ at }) => at - withinMs),
        wanted.map(({ at }) => at + (withinMs === Infinity ? Infinity : SKEW_MS)),
      ],
    });
    for (const { delivery, event } of rows) found.set(delivery, event);
  }
  return found;
}
