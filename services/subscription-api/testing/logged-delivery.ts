import { randomUUID } from 'node:crypto';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { Queryable } from '@waybell/runtime/postgres';

type What = {
  account: string;
  client?: string;
  interface: 'shipper' | 'carrier';
  mark: string;
  delivery?: string | undefined;
  subscription?: string;
  byHand?: 'resend' | 'test';
};
export type LoggedDelivery = { subject: string; event: string; delivery: string };

/** An exhausted delivery in the delivery log, as that service would have written it. `mark` is in what is told of it and its attempt. */
export async function logDelivery(
  postgres: Queryable,
  { account, interface: interfaceName, mark, ...given }: What,
): Promise<LoggedDelivery> {
  const { delivery = randomUUID(), subscription = randomUUID(), client = 'default', byHand } = given;
  const [subject, event] = [randomUUID(), randomUUID()];
  for (const table of ['events', 'keys', 'deliveries', 'attempts', 'bodies'])
    await postgres.query(
      `create table if not exists delivery_log.${table}_of_tests partition of delivery_log.${table} default`,
    );
  await postgres.query(
    `with event as (
       insert into delivery_log.events (at, event, interface, action, receivers, keys, suppressed, unknown_members)
       values ($8, $2, $6, 'order.created', array[$5::uuid], array['order_guid=' || $1], '[]', 0)
     ), subject as (
       insert into delivery_log.keys values ($1, 'order_guid', $8, $2)
     ), attempt as (
       insert into delivery_log.attempts (at, delivery, attempt, kind, subscription, reason, url, answer, by_hand)
       values ($8, $3, 1, 'exhausted', $4, 'reset', $7, $7, $9)
     ), body as (
       insert into delivery_log.bodies values ($8, $3, $7)
     )
     insert into delivery_log.deliveries values ($8, $3, $2, $6, 'order.created', $4, $5, $10)`,
    [subject, event, delivery, subscription, account, interfaceName, mark, new Date(wallClockMs()), byHand, client],
  );
  return { subject, event, delivery };
}
