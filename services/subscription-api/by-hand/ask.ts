/**
 * Sends by hand: again what did not arrive, or an example to test a subscription. A request writes a row, and the delivery log
 * publishes due rows: so requests are not lost, and are sent at the requested rate.
 */
import { randomUUID } from 'node:crypto';
import { matchesPattern } from '@waybell/catalog/names';
import { isStored } from '@waybell/delivery-log/read/bodies';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { deliveryHistory, isMade } from '@waybell/delivery-log/read/history';
import { STOP, type Stop } from '@waybell/delivery-log/read/subscriptions';
import { messageGuid } from '@waybell/notifications/notification';
import type { Queryable } from '@waybell/runtime/postgres';

/** Why nothing is sent. */
export type SendRefusal =
  | { kind: 'refused'; why: RefusedWhy }
  /** An operator has stopped it. */
  | { kind: 'refused'; why: 'stopped'; stop: Stop };
type RefusedWhy =
  | 'not_found'
  | 'under_way'
  | 'a_test'
  | 'body_gone'
  | 'unsubscribed'
  | 'deactivated'
  | 'nothing_missed';
/** `held`: why it waits before it is sent; null: it does not. */
export type AskedForResend = {
  kind: 'asked';
  delivery: string;
  subscription: string;
  fromAttempt: number;
  held: CurrentSubscription['held'];
};
export type AskedForTest = { kind: 'asked'; event: string; delivery: string; body: string };

/** A delivery is not attempted for longer than this, however it was made: whatever was published before has ended. */
const LONGEST_UNDER_WAY = "interval '25 hours'";

const CURRENT = `
  select guid, generation, is_active, action,
    case when ${STOP} is not null then 'stopped' when paused_until > now() then 'paused' end as held
  from waybell.subscriptions s
  where account_guid = $1 and client_id = $2 and interface = $3 and ended_at is null`;

/** Published or about to be, and not attempted yet. */
export const isUnderWay = (delivery: string) => `
  exists (
    select from delivery_log.sendings s
    where s.delivery = ${delivery} and not s.is_void
      and (s.published_at is null or s.due_at > now() - ${LONGEST_UNDER_WAY})
      and not exists (
        select from delivery_log.attempts m
        where m.delivery = s.delivery and m.attempt >= s.from_attempt and m.at >= s.requested_at - interval '1 minute')
  )`;

const INSERT = `
  insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
    generation, from_attempt, body, requested_by, due_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13, now())
  on conflict (delivery) where published_at is null do nothing`;

/**
 * Requests that one delivery, unless it was a test, is sent again: to the current subscription to its action, with the same guid
 * and continued attempt numbers.
 */
export async function askForResend(
  postgres: Queryable,
  { delivery: guid, client, by }: { delivery: string; client: ClientReader; by: string },
): Promise<AskedForResend | SendRefusal> {
  const entry = await deliveryHistory(postgres, { delivery: guid }, client);
  if (entry === undefined) return refused('not_found');
  if (entry.status === 'waiting' || entry.status === 'retrying') return refused('under_way');
  // Sent again, it would no longer say that no event happened.
  if (entry.attempts.some(({ byHand }) => byHand === 'test')) return refused('a_test');
  const targets = await targetsOf(postgres, client, entry.action);
  if ('kind' in targets) return targets;
  const [target] = targets;
  const { rows } = await postgres.query<{ has_body: boolean; is_under_way: boolean }>(
    `select exists (select from delivery_log.attempts b where b.delivery = $1 and ${isStored('b')}) as has_body,
       ${isUnderWay('$1')} as is_under_way`,
    [guid],
  );
  if (rows[0]?.has_body !== true) return refused('body_gone');
  if (rows[0].is_under_way) return refused('under_way');
  const fromAttempt = Math.max(0, ...entry.attempts.filter(isMade).map(({ attempt }) => attempt)) + 1;
  const { event, interface: interfaceName, action } = entry;
  const whose = [interfaceName, action, client.account, client.client, target.guid, target.generation];
  const { rowCount } = await postgres.query(INSERT, [
    randomUUID(),
    'resend',
    guid,
    event,
    ...whose,
    fromAttempt,
    null,
    by,
  ]);
  return rowCount === 0
    ? refused('under_way')
    : { kind: 'asked', delivery: guid, subscription: target.guid, fromAttempt, held: target.held };
}

/** Requests that the example of an action is sent once to the subscription with this guid: switched off or paused, too. */
export async function askForTest(
  postgres: Queryable,
  { subscription, client, by, exampleOf }: TestRequest,
): Promise<AskedForTest | SendRefusal> {
  const { rows } = await postgres.query<Omit<CurrentSubscription, 'held'> & { stop: Stop | null }>(
    `select guid, generation, is_active, action, ${STOP} as stop from waybell.subscriptions s
     where guid = $1 and account_guid = $2 and client_id = $3 and interface = $4 and ended_at is null`,
    [subscription, client.account, client.client, client.interface],
  );
  const [target] = rows;
  if (target === undefined) return refused('not_found');
  if (target.stop !== null) return { kind: 'refused', why: 'stopped', stop: target.stop };
  const event = randomUUID();
  const delivery = messageGuid(event, target.guid);
  const whose = [client.interface, target.action, client.account, client.client, target.guid, target.generation];
  const body = exampleOf(target.action, delivery);
  await postgres.query(INSERT, [randomUUID(), 'test', delivery, event, ...whose, 1, body, by]);
  return { kind: 'asked', event, delivery, body };
}

export type TestRequest = {
  subscription: string;
  client: ClientReader;
  by: string;
  /** Builds a body with the example of an action and this message guid. */
  exampleOf: (action: string, messageGuid: string) => string;
};

export type CurrentSubscription = {
  guid: string;
  generation: number;
  is_active: boolean;
  action: string;
  /** An operator, or its client, has its deliveries wait. */
  held: 'stopped' | 'paused' | null;
};

/** The client's current subscriptions to what this names: an action, or a pattern. */
export async function currentSubscriptions(
  postgres: Queryable,
  { account, client, interface: interfaceName }: ClientReader,
  action: string,
): Promise<CurrentSubscription[]> {
  const { rows } = await postgres.query<CurrentSubscription>(CURRENT, [account, client, interfaceName]);
  return rows.filter((each) => matchesPattern(each.action, action));
}

/** Returns those subscriptions that something can be sent to: at least one. */
export async function targetsOf(
  postgres: Queryable,
  client: ClientReader,
  action: string,
): Promise<[CurrentSubscription, ...CurrentSubscription[]] | SendRefusal> {
  const current = await currentSubscriptions(postgres, client, action);
  const [target, ...others] = current.filter((each) => each.is_active);
  if (target !== undefined) return [target, ...others];
  return refused(current.length === 0 ? 'unsubscribed' : 'deactivated');
}

export const refused = (why: RefusedWhy): SendRefusal => ({ kind: 'refused', why });
