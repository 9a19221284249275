import { randomUUID } from 'node:crypto';
import type pg from 'pg';
import { partsOf, rowsOf } from '@waybell/delivery-log/write/log-rows';
import { copiesOf } from '@waybell/delivery-log/write/write-outcomes';
import { normalizedKey } from '@waybell/events/event';
import type { ByHand } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { copyAll } from '@waybell/runtime/postgres';

type What = {
  account: string;
  client?: string;
  interface: 'shipper' | 'carrier';
  mark: string;
  event?: string;
  /** Defaults to the client's own, or to an ended one. */
  subscription?: string;
  byHand?: ByHand;
  /** A number of the order; else a guid. */
  number?: string;
};
export type LoggedDelivery = { subject: string; event: string; delivery: string };

const ACTION = 'order.created';

/** Adds an exhausted delivery to the delivery log, as that service would. `mark` is in its facts and in its attempt. */
export async function logDelivery(
  postgres: pg.Pool,
  { account, client = 'default', interface: interfaceName, mark, byHand, ...given }: What,
): Promise<LoggedDelivery> {
  const { event = randomUUID() } = given;
  const subscription =
    given.subscription ?? (await subscriptionOf(postgres, { account, client, interface: interfaceName }));
  const { number } = given;
  const [subject, delivery] = [number ?? randomUUID(), messageGuid(event, subscription)];
  const key = { kind: number === undefined ? 'order_guid' : 'order_number', key: normalizedKey(subject) };
  for (const table of ['events', 'keys', 'attempts', 'chunks', 'commits'])
    await postgres.query(
      `create table if not exists delivery_log.${table}_of_tests partition of delivery_log.${table} default`,
    );
  const about = { event, interface: interfaceName, action: ACTION, at: wallClockMs() };
  const parts = partsOf([
    {
      kind: 'routed',
      ...about,
      keys: [key],
      receivers: [account],
      deliveries: [{ subscription, account }],
      suppressed: [],
    },
    {
      kind: 'exhausted',
      ...about,
      delivery,
      subscription,
      generation: 3,
      attempt: 1,
      beganAt: about.at,
      body: mark,
      answer: { durationMs: 1, reason: 'reset', url: mark, body: mark },
      ...(byHand !== undefined && { byHand }),
    },
  ]);
  await copyAll(postgres, copiesOf(rowsOf(parts, 0), about.at));
  return { subject, event, delivery };
}

async function subscriptionOf(
  postgres: pg.Pool,
  { account, client, interface: side }: Required<Pick<What, 'account' | 'client' | 'interface'>>,
): Promise<string> {
  const { rows } = await postgres.query<{ guid: string }>(
    `select guid from waybell.subscriptions where account_guid = $1 and client_id = $2 and interface = $3 and action = $4
     order by ended_at desc nulls first limit 1`,
    [account, client, side, ACTION],
  );
  return (
    rows[0]?.guid ?? (await subscribe(postgres, { account, client, interface: side, action: ACTION, isEnded: true }))
  );
}
