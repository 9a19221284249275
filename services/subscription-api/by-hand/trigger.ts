import { randomUUID } from 'node:crypto';
import { isOfOwner } from '@waybell/delivery-log/listener-client';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { STOP, type Stop } from '@waybell/delivery-log/read/subscriptions';
import { messageGuid } from '@waybell/notifications/notification';
import type { Queryable } from '@waybell/runtime/postgres';
import type { SendRefusal } from './ask.ts';

/** Returns the body for a subscription with these fields and this message guid; or why it gets none. */
export type BodyFor = (target: { auditFieldSet: string[] | null; messageGuid: string }) => Body;
type Body = { kind: 'notification'; body: Buffer } | { kind: 'suppressed'; reason: string };

export type TriggerRequest = {
  event: string;
  action: string;
  client: ClientReader;
  /** Whether the client's subscription gets it although a listener runs. */
  isEverywhere: boolean;
  by: string;
  bodyFor: BodyFor;
};

type TriggerRecipient = { subscription: string; isListener: boolean };
export type Triggered = {
  kind: 'triggered';
  deliveries: (TriggerRecipient & { delivery: string })[];
  suppressed: (TriggerRecipient & { reason: string })[];
};

/** `other_actions`: a listener runs, and is not subscribed to the action. */
export type TriggerRefusal =
  | Extract<SendRefusal, { why: 'stopped' }>
  | { kind: 'refused'; why: 'unsubscribed' | 'other_actions' };

type TriggeredSubscriptionRow = {
  guid: string;
  action: string;
  client_id: string;
  is_listener: boolean;
  generation: number;
  stop: Stop | null;
  audit_field_set: string[] | null;
};

const TARGETS = `
  select guid, action, client_id, waybell.is_listener(client_id) as is_listener, generation, audit_field_set, ${STOP} as stop
  from waybell.subscriptions s
  where account_guid = $1 and interface = $2 and ended_at is null and ${isOfOwner('client_id', '$3')}
  order by client_id`;

const INSERT = `
  insert into delivery_log.sendings (guid, why, is_retried, delivery, event, interface, action, account, client, subscription,
    generation, from_attempt, body, requested_by, due_at)
  values ($1, 'test', true, $2, $3, $4, $5, $6, $7, $8, $9, 1, $10, $11, now())`;

/**
 * Requests that an event which never happened is sent to the client's listeners, or its subscription, as a test that is retried
 * like any delivery: also to one that is switched off or paused. Needs the caller's transaction.
 */
export async function askForTrigger(postgres: Queryable, request: TriggerRequest): Promise<Triggered | TriggerRefusal> {
  const { event, action, client, isEverywhere, by, bodyFor } = request;
  const whose = [client.account, client.interface, client.client];
  const { rows } = await postgres.query<TriggeredSubscriptionRow>(TARGETS, whose);
  const isForListeners = !isEverywhere && rows.some((each) => each.is_listener);
  const targets = rows.filter((each) => each.action === action && (each.is_listener || !isForListeners));
  if (targets.length === 0) return { kind: 'refused', why: isForListeners ? 'other_actions' : 'unsubscribed' };
  const stops = targets.flatMap(({ stop }) => stop ?? []);
  const [stop] = stops;
  if (stop !== undefined && stops.length === targets.length) return { kind: 'refused', why: 'stopped', stop };
  const triggered: Triggered = { kind: 'triggered', deliveries: [], suppressed: [] };
  for (const target of targets.filter((each) => each.stop === null)) {
    const { guid: subscription, client_id: toClient, is_listener, generation, audit_field_set: auditFieldSet } = target;
    const delivery = messageGuid(event, subscription);
    const to = { subscription, isListener: is_listener };
    const made = bodyFor({ auditFieldSet, messageGuid: delivery });
    if (made.kind === 'suppressed') {
      triggered.suppressed.push({ ...to, reason: made.reason });
      continue;
    }
    const of = [delivery, event, client.interface, action, client.account, toClient, subscription, generation];
    await postgres.query(INSERT, [randomUUID(), ...of, made.body.toString(), by]);
    triggered.deliveries.push({ ...to, delivery });
  }
  return triggered;
}
