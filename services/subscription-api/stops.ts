/** Stops by operators: of the deliveries of a subscription, or of all to a host. */
import { ms } from '@waybell/delivery-log/tables';
import { subscriptionsOf, type SubscriptionEntry } from '@waybell/delivery-log/read/subscriptions';
import type { Queryable } from '@waybell/runtime/postgres';
import { readGuid } from './accounts.ts';
import { closed, text } from './operations/schema.ts';
import { Refusal } from './refusal.ts';

/** The body of a request to stop a subscription or a host. */
export const stopRequest = closed({
  reason: text({
    pattern: String.raw`^\P{C}{1,200}$`,
    description: 'a text of 1 to 200 printable characters; clients see it',
    examples: ['the receiver is being moved'],
  }),
});

/** Times are milliseconds since the epoch. */
export type StoppedHost = { host: string; at: number; reason: string; subscriptions: number };

const LOCK = 'select waybell.lock_stops(account_guid, client_id) from waybell.subscriptions where guid = $1';

/** Current and former subscriptions of the same client and action, the current one first. */
const OF_SAME = `
  from waybell.subscriptions s join waybell.subscriptions named
    using (account_guid, client_id, interface, action) where named.guid = $1`;
const LAST = `select s.guid ${OF_SAME} order by s.ended_at desc nulls first limit 1`;

const STOP_SUBSCRIPTION = `
  update waybell.subscriptions set stopped_at = coalesce(stopped_at, now()), stopped_reason = $2
  where guid = (${LAST}) returning guid`;
const START_SUBSCRIPTION = `
  update waybell.subscriptions set stopped_at = null, stopped_reason = null
  where stopped_at is not null and guid in (select s.guid ${OF_SAME})`;

const STOP_HOST = `
  insert into waybell.stopped_hosts (host, reason) values ($1, $2) on conflict (host) do update set reason = excluded.reason`;
const START_HOST = 'delete from waybell.stopped_hosts where host = $1';

const STOPPED = `
  select distinct on (account_guid, client_id, interface, action) guid
  from waybell.subscriptions where stopped_at is not null
  order by account_guid, client_id, interface, action, ended_at desc nulls first`;
const STOPPED_HOSTS = `
  select host, ${ms('stopped_at')} as at, reason, (
    select count(*)::int from waybell.subscriptions s
    where s.ended_at is null and not waybell.is_listener(s.client_id) and waybell.host_of(s.callback_url) = h.host) as subscriptions
  from waybell.stopped_hosts h where $1::text is null or host = $1 order by stopped_at desc, host`;

/**
 * Makes what is due for a subscription wait until it is started; and likewise for the next one of its client to the action. Stopped again,
 * it has the new reason. Returns the current one. Needs a transaction. Throws Refusal if there is no such subscription.
 */
export async function stopSubscription(
  postgres: Queryable,
  { guid, reason }: { guid: string; reason: string },
): Promise<SubscriptionEntry> {
  return onSubscription(postgres, guid, async (subscription) => {
    await postgres.query(STOP_SUBSCRIPTION, [subscription, reason]);
  });
}

/** Starts a subscription again. Needs a transaction. Throws Refusal if there is no such one, or if it is not stopped itself. */
export async function startSubscription(postgres: Queryable, guid: string): Promise<SubscriptionEntry> {
  return onSubscription(postgres, guid, async (subscription) => {
    const { rowCount } = await postgres.query(START_SUBSCRIPTION, [subscription]);
    if (rowCount === 0)
      throw new Refusal(`subscription ${subscription} is not stopped itself; its host may be`, 'not-stopped');
  });
}

async function onSubscription(
  postgres: Queryable,
  guidText: string,
  change: (guid: string) => Promise<void>,
): Promise<SubscriptionEntry> {
  const guid = readGuid(guidText);
  // Nobody subscribes again meanwhile.
  await postgres.query(LOCK, [guid]);
  const { rows } = await postgres.query<{ guid: string }>(LAST, [guid]);
  const subscription = rows[0]?.guid;
  if (subscription === undefined) throw new Refusal(`there is no subscription ${guid}`, 'not-subscribed');
  await change(subscription);
  const [entry] = await subscriptionsOf(postgres, { subscription });
  if (entry === undefined) throw new Error(`subscription ${subscription} has gone`);
  return entry;
}

/** Makes what is due for callbacks to a host wait, of whichever clients, until it is started. */
export async function stopHost(
  postgres: Queryable,
  { host, reason }: { host: string; reason: string },
): Promise<StoppedHost> {
  await postgres.query(STOP_HOST, [host, reason]);
  const { rows } = await postgres.query<StoppedHost>(STOPPED_HOSTS, [host]);
  if (rows[0] === undefined) throw new Error(`host ${host} was started meanwhile`);
  return rows[0];
}

/** Starts a host again. Throws Refusal if it is not stopped. */
export async function startHost(postgres: Queryable, host: string): Promise<void> {
  const { rowCount } = await postgres.query(START_HOST, [host]);
  if (rowCount === 0) throw new Refusal(`host ${host} is not stopped`, 'not-stopped');
}

/** All that is stopped, what was stopped last first; subscriptions that have ended, too: the next ones are stopped. */
export async function listStops(
  postgres: Queryable,
): Promise<{ subscriptions: SubscriptionEntry[]; hosts: StoppedHost[] }> {
  const { rows } = await postgres.query<{ guid: string }>(STOPPED);
  const subscriptions: SubscriptionEntry[] = [];
  for (const { guid } of rows) subscriptions.push(...(await subscriptionsOf(postgres, { subscription: guid })));
  const stoppedAt = ({ stop }: SubscriptionEntry) => stop?.at ?? 0;
  const hosts = await postgres.query<StoppedHost>(STOPPED_HOSTS, [null]);
  return {
    subscriptions: subscriptions.toSorted((one, other) => stoppedAt(other) - stoppedAt(one)),
    hosts: hosts.rows,
  };
}
