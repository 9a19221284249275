import { randomUUID } from 'node:crypto';
import { object, same } from '../actions/generate/json.ts';
import { actionTable, keyOf } from '../actions/oracle/action-table.ts';
import { expectedOf } from '../actions/oracle/expected-body.ts';
import { messageGuidOf } from '../actions/oracle/message-guid.ts';
import { anEvent, type PublishedEvent } from './event.ts';
import { endsAfter, type Answers, type Ending, type Owed } from './owed.ts';
import type { Behaviour, Receiver } from './receiver.ts';
import type { TestStack } from './test-stack.ts';

/** A party that events are about, and the expected ends of each of its events. */
export type Party = { anEvent: () => PublishedEvent; owes: (event: PublishedEvent) => Owed[] };

/** The place of a party: a whole system, and a receiver of what it sends. */
type Place = { stack: TestStack; receiver: Receiver };

export type Subscriber = {
  interface: 'shipper' | 'carrier';
  action: string;
  /** The account that it is another subscription of; absent: a new one. */
  account?: string;
  /** Its paths are in this folder. */
  folder: string;
  answers: Answers;
  /** How long it takes to answer. */
  slowMs?: number;
  /** Clients of the account, each with a subscription of its own. */
  clients?: number;
  /** The expected ends, if they do not follow from its answers. */
  ends?: readonly Ending[];
};

export type Subscribed = Party & {
  account: string;
  addresses: { subscription: string; path: string; token: string }[];
};

/** Their actions, by interface. */
export const ACTIONS = {
  shipper: ['order.picked_up', 'order.paid', 'order.booked', 'order.delivered'],
  carrier: ['order.created', 'order.assigned', 'order.delivered', 'damage.created'],
} as const;

/** The first attempt and its retries, as specified. */
export const ATTEMPTS = { shipper: 6, carrier: 4 };
const FAILURES = [404, 500, 302, 429, 410, 400];
const SLOW_MS = 20;

/**
 * Integrators of both interfaces, ten each: one never answers with success, one only at the third attempt, one has two
 * clients, some take their time. And one account that is unknown, one whose papers have no links yet, and an
 * upstream that leaves members out.
 */
export async function subscribers(place: Place): Promise<Party[]> {
  const each = (['shipper', 'carrier'] as const).flatMap((side) =>
    Array.from({ length: 10 }, (_, number) => subscribed(place, usual(side, number))),
  );
  const papers = { interface: 'shipper', action: 'order.picked_up_bol', folder: '/papers', answers: [200] } as const;
  const [stranger, careless] = [randomUUID(), randomUUID()];
  return [
    ...(await Promise.all(each)),
    await subscribed(place, { ...papers, ends: [{ kind: 'suppressed', reason: 'links_missing' }] }),
    {
      anEvent: () => anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: stranger } }),
      owes: ({ guid }) => [
        { event: guid, account: stranger, ends: [{ kind: 'suppressed', reason: 'no_subscription' }] },
      ],
    },
    {
      anEvent: () =>
        anEvent({ interface: 'shipper', action: 'order.picked_up', parties: { shipper: careless }, payload: {} }),
      owes: ({ guid }) => [{ event: guid, account: careless, ends: [{ kind: 'rejected', reason: 'payload_invalid' }] }],
    },
  ];
}

function usual(side: 'shipper' | 'carrier', number: number): Subscriber {
  const action = ACTIONS[side][number % ACTIONS[side].length] ?? '';
  return {
    interface: side,
    action,
    folder: `/${side}/${number === 0 ? 'dead' : number}`,
    answers: [FAILURES.slice(0, ATTEMPTS[side]), [500, 500, 200]][number] ?? [200],
    clients: number === 2 ? 2 : 1,
    ...(number > 1 && number % 3 === 0 && { slowMs: SLOW_MS }),
  };
}

/** Creates an account, subscribes its clients and has their receivers answer. */
export async function subscribed({ stack, receiver }: Place, subscriber: Subscriber): Promise<Subscribed> {
  const { interface: side, action, folder, answers, clients = 1 } = subscriber;
  const known = subscriber.account;
  const { account, subscribe } = await (known === undefined ? stack.client(side) : stack.clientOf(known, side));
  const others = Array.from({ length: clients - 1 }, (_, number) => stack.clientOf(account, side, `other-${number}`));
  const calls = [subscribe, ...(await Promise.all(others)).map((other) => other.subscribe)];
  const addresses = calls.map(async (call) => {
    const path = `${folder}/${randomUUID()}/${action}`;
    receiver.answer(path, behaviour(subscriber));
    const token = await call(action, receiver.url(path));
    return { subscription: await stack.subscriptionAt(receiver.url(path)), path, token };
  });
  const subscriptions = await Promise.all(addresses);
  const { DEACTIVATE_ON_EXHAUSTED: off = 'carrier' } = stack.stack.service('deactivator').spec.env;
  const { ends = endsAfter(answers, off.includes(side)) } = subscriber;
  return {
    account,
    addresses: subscriptions,
    anEvent: () => anEvent({ interface: side, action, parties: { [side]: account } }),
    owes: (event) =>
      subscriptions.map((address) => {
        const delivery = messageGuidOf(event.guid, address.subscription);
        return { event: event.guid, account, to: { ...address, delivery, body: bodyOwed(event, delivery) }, ends };
      }),
  };
}

function behaviour({ answers, slowMs }: Subscriber): Behaviour {
  return (response, { headers }) => {
    const attempt = Number(headers['x-webhook-attempt']);
    const status = attempt > answers.length ? 500 : answers[attempt - 1];
    if (status === undefined) return;
    if (slowMs === undefined) response.writeHead(status).end();
    else setTimeout(() => response.writeHead(status).end(), slowMs);
  };
}

/** The bytes to be sent, by the specifications alone; none where nothing is to be sent. */
export function bodyOwed(event: PublishedEvent, messageGuid: string): string {
  const { interface: side, occurred_at: occurredAt, payload, guid } = event;
  const action = actionTable.find((row) => keyOf(row) === `${side}.${event.action}`);
  if (action === undefined) throw new Error(`the specifications have no ${side}.${event.action}`);
  const moment = occurredAt.replace(side === 'shipper' ? /\d{3}Z$/ : /Z$/, '+0000');
  const expected = expectedOf(
    {
      action,
      guid,
      isIgnored: false,
      accounts: { shipper: '', broker: '', carrier: '' },
      envelope: object([['occurred_at', same(JSON.stringify(moment))]]),
      payload: object(Object.entries(payload).map(([name, value]) => [name, same(JSON.stringify(value))])),
      revision: null,
      unknownMembers: 0,
    },
    { auditFieldSet: null, messageGuid },
  );
  return 'body' in expected ? expected.body : '';
}
