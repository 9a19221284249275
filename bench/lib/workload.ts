import { randomUUID } from 'node:crypto';
import type { Action } from '@waybell/catalog/action';
import { actionKey, actions, findAction } from '@waybell/catalog/actions';

/**
 * Subscribers, by their numbers: from, up to and without to. Number n is an account of its own with one subscription, to
 * action n modulo the number of actions. So what a publisher sends and what a database is filled with agree without
 * talking to each other.
 */
export type Group = {
  from: number;
  to: number;
  /** `<interface>.<name>`. */
  actionKeys: readonly string[];
  /** Number of the one account that they are all clients of: each event for it goes to all that have its action. */
  account?: number;
};

export type Workload = {
  /** How much of the traffic each group gets: weights add up to 1. */
  groups: readonly (Group & { weight: number })[];
};

const SMALL_PAYLOAD_BYTES = 80;
const TEXT_BYTES = 40;

/** Actions of shippers whose whole event is about 300 bytes, with an order's guid in it: where `stamp` goes. */
export const smallActionKeys: readonly string[] = actions
  .filter(({ example }) => 'order_guid' in example && JSON.stringify(example).length <= SMALL_PAYLOAD_BYTES)
  .filter(({ receivers, feature }) => receivers.join() === 'shipper' && feature === undefined)
  .map(actionKey);

/** The busiest action where all traffic is on one. */
export const hotActionKey = 'shipper.order.paid';

/** All traffic to one group, evenly. */
export function evenly(group: Group): Workload {
  return { groups: [{ ...group, weight: 1 }] };
}

/** The action that subscriber n of the group is subscribed to. */
export function actionKeyOf({ actionKeys }: Group, n: number): string {
  return actionKeys[n % actionKeys.length] ?? hotActionKey;
}

/** Guid of account number n, as `stand.ts` seeds it. */
export function accountGuid(n: number): string {
  return `00000000-0000-4000-8000-${n.toString(16).padStart(12, '0')}`;
}

/** A subscriber by chance, as the weights say: number of its account, and its action. */
export function chooseSubscriber({ groups }: Workload, random: () => number): { n: number; actionKey: string } {
  let remaining = random();
  for (const group of groups) {
    const { from, to, weight, account } = group;
    if (remaining < weight) {
      const n = from + Math.floor((remaining / weight) * (to - from));
      return { n: account ?? n, actionKey: actionKeyOf(group, n) };
    }
    remaining -= weight;
  }
  throw new Error('the weights of a workload add up to less than 1');
}

export type UpstreamEvent = { actionKey: string; guid: string; body: Buffer };

/** An event for account n, as upstream would publish it, to be sent at `atMs` since the epoch. */
export function eventFor({ n, actionKey: key }: { n: number; actionKey: string }, atMs: number): UpstreamEvent {
  const action = actionOf(key);
  const guid = randomUUID();
  const event = {
    guid,
    interface: action.interface,
    action: action.name,
    occurred_at: '2026-11-20T09:30:00.123456Z',
    parties: { [action.interface]: accountGuid(n) },
    payload:
      action.interface === 'shipper'
        ? { ...action.example, order_guid: stamp(atMs) }
        : { id: n, status: 'new', notes: 'x'.repeat(TEXT_BYTES) },
  };
  return { actionKey: key, guid, body: Buffer.from(JSON.stringify(event)) };
}

const STAMP = '-4000-8000-';
const STAMPS_PER_MS = 100;

/** A guid that says when the event was to be sent, to 10 µs: it is in the notification too. */
export function stamp(atMs: number): string {
  const digits = Math.round(atMs * STAMPS_PER_MS)
    .toString(16)
    .padStart(12, '0');
  return `${digits.slice(0, 8)}-${digits.slice(8)}${STAMP}${randomUUID().slice(24)}`;
}

/** When the event of this notification was to be sent, in milliseconds since the epoch; undefined without a stamp. */
export function readStamp(notification: string): number | undefined {
  const at = notification.indexOf(STAMP);
  if (at < 13) return undefined;
  const digits = notification.slice(at - 13, at).replace('-', '');
  return Number.parseInt(digits, 16) / STAMPS_PER_MS;
}

function actionOf(key: string): Action {
  const [, interfaceName = '', name = ''] = /^(\w+)\.(.+)$/.exec(key) ?? [];
  const action = findAction(interfaceName, name);
  if (action === undefined) throw new Error(`the catalog has no action ${key}`);
  return action;
}

/** One of the 16 million addresses of this machine, for numbers below 62,500. */
export function loopbackAddress(place: number): string {
  return `127.1.${Math.floor(place / 250)}.${(place % 250) + 1}`;
}
