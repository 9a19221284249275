import { randomUUID } from 'node:crypto';
import { isAttempted, type Delivered, type Failed, type Outcome, type Routed } from '@waybell/line/outcomes';
import { messageGuid } from '@waybell/notifications/notification';
import { accountGuid } from './workload.ts';

/** The deliverer publishes batches of this size. */
export const BATCH = 100;
/** One attempt in so many fails, and opens a connection. */
const FAILED_ONE_IN = 10;
const CONNECTED_ONE_IN = 20;
const SUBSCRIPTIONS = 1_000;
const ACTIONS = ['order.created', 'order.delivered', 'offer.sent', 'load_request.updated'];
const REFUSAL = JSON.stringify({ error: 'unavailable', detail: 'x'.repeat(163) });

export type RecordsOf = (place: number, atMs: number) => Outcome[];

/** Batches between an event's and its attempt's, so that they are not written together: under load they never are. */
const LATER = 100;

/**
 * Records of so many hundred deliveries, twenty of which ended in each millisecond from `fromMs` on. Verdicts and attempts come
 * from different services, and so in batches of their own.
 */
export function batchesOf(hundreds: number, recordsOf: RecordsOf, fromMs: number): Outcome[][] {
  const verdicts: Outcome[][] = [];
  const attempts: Outcome[][] = [];
  for (let hundred = 0; hundred < hundreds; hundred += 1) {
    const records = Array.from({ length: BATCH }, (_, count) => hundred * BATCH + count).flatMap((place) =>
      recordsOf(place, fromMs + Math.floor(place / 20)),
    );
    verdicts.push(records.filter((each) => !isAttempted(each)));
    attempts.push(records.filter(isAttempted));
  }
  return Array.from({ length: hundreds + LATER }, (_, turn) => [verdicts[turn] ?? [], attempts[turn - LATER] ?? []])
    .flat()
    .filter(({ length }) => length > 0);
}

/** Attempts, and nothing of what they belong to. */
export const attemptAlone: RecordsOf = (place, atMs) => [
  place % FAILED_ONE_IN === 1 ? failed(delivered(place, atMs)) : delivered(place, atMs),
];

/** An event of 300 bytes about an order and a vehicle of its account, for one account and one subscriber, and the attempt with what was sent. */
export const wholeDelivery: RecordsOf = (place, atMs) => {
  const attempt = delivered(place, atMs);
  const { event, subscription, action, at } = attempt;
  const account = accountGuid(place % SUBSCRIPTIONS);
  const order = randomUUID();
  const vehicle = accountGuid(SUBSCRIPTIONS + (place % SUBSCRIPTIONS));
  const notified = { interface: 'shipper', action, occurred_at: '2026-11-20T09:30:00.123456Z' } as const;
  const payload = { order_guid: order, vehicle_guid: vehicle, status: 'paid', amount: place % 1_000 };
  const parties = { shipper: account };
  const routed: Routed = {
    kind: 'routed',
    event,
    interface: 'shipper',
    action,
    at: at - 5,
    keys: [
      { kind: 'order_guid', key: order },
      { kind: 'vehicle_guid', key: vehicle },
    ],
    receivers: [account],
    kept: { accounts: [account], body: JSON.stringify({ guid: event, ...notified, parties, payload }) },
    deliveries: [{ subscription, account }],
    suppressed: [],
  };
  return [routed, { ...attempt, body: JSON.stringify({ guid: attempt.delivery, ...notified, ...payload, parties }) }];
};

function delivered(place: number, at: number): Delivered {
  const event = randomUUID();
  const subscription = accountGuid(place % SUBSCRIPTIONS);
  return {
    kind: 'delivered',
    delivery: messageGuid(event, subscription),
    subscription,
    generation: 1,
    event,
    interface: 'shipper',
    action: ACTIONS[place % ACTIONS.length] ?? '',
    attempt: 1,
    at,
    beganAt: at - 40,
    answer: {
      durationMs: 40,
      firstByteMs: 39,
      ip: '203.0.113.7',
      url: `https://receiver.example/webhooks/${place % SUBSCRIPTIONS}`,
      status: 200,
      body: 'ok',
      ...(place % CONNECTED_ONE_IN === 0 && { dnsMs: 2, connectMs: 9, tlsMs: 14 }),
    },
  };
}

const failed = ({ answer, ...attempt }: Delivered): Failed => ({
  ...attempt,
  kind: 'failed',
  retryAt: attempt.at + 1_000,
  answer: { ...answer, status: 503, reason: 'http_5xx', body: REFUSAL },
});
