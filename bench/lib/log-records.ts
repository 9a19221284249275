import { randomUUID } from 'node:crypto';
import { isAttempted, type Answer, type Attempted, type Outcome, type Routed } from '@waybell/line/outcomes';
import { accountGuid } from './workload.ts';

/** As the deliverer publishes them. */
export const BATCH = 100;
/** One attempt in so many fails, and opens a connection. */
const FAILED_ONE_IN = 10;
const CONNECTED_ONE_IN = 20;
const SUBSCRIPTIONS = 1_000;
const ACTIONS = ['order.created', 'order.delivered', 'offer.sent', 'load_request.updated'];
const REFUSAL = JSON.stringify({ error: 'unavailable', detail: 'x'.repeat(163) });

export type RecordsOf = (place: number, atMs: number) => Outcome[];

/**
 * So many batches of records, twenty of which ended in each millisecond from `fromMs` on. Verdicts and attempts come from
 * different services, and so in batches of their own, beside each other.
 */
export function batchesOf(batches: number, recordsOf: RecordsOf, fromMs: number): Outcome[][] {
  const made: Outcome[][] = [];
  for (let place = 0; made.length < batches;) {
    const records: Outcome[] = [];
    for (let count = 0; count < BATCH; count += 1, place += 1)
      records.push(...recordsOf(place, fromMs + Math.floor(place / 20)));
    const [verdicts, attempts] = [false, true].map((isIt) => records.filter((each) => isAttempted(each) === isIt));
    made.push(...[verdicts ?? [], attempts ?? []].filter(({ length }) => length > 0));
  }
  return made;
}

/** Attempts, and nothing of what they belong to. */
export const attemptAlone: RecordsOf = (place, atMs) => [anAttempt(place, atMs)];

/** An event of 300 bytes about two things, for one subscriber: the verdict, and the first attempt with what was sent. */
export const wholeDelivery: RecordsOf = (place, atMs) => {
  const attempt = anAttempt(place, atMs);
  const body = JSON.stringify({
    guid: attempt.delivery,
    interface: 'shipper',
    action: attempt.action,
    occurred_at: '2026-11-20T09:30:00.123456Z',
    order_guid: randomUUID(),
    parties: { shipper: accountGuid(place % SUBSCRIPTIONS) },
  });
  return [routedFor(attempt, place), { ...attempt, body }];
};

function routedFor({ event, delivery, subscription, action, at }: Attempted, place: number): Routed {
  const account = accountGuid(place % SUBSCRIPTIONS);
  return {
    kind: 'routed',
    event,
    interface: 'shipper',
    action,
    at: at - 5,
    keys: [
      { kind: 'order_guid', key: randomUUID() },
      { kind: 'vehicle_guid', key: randomUUID() },
    ],
    receivers: [account],
    deliveries: [{ delivery, subscription, account, client: 'default' }],
    suppressed: [],
  };
}

function anAttempt(place: number, at: number): Attempted {
  const facts = {
    delivery: randomUUID(),
    subscription: accountGuid(place % SUBSCRIPTIONS),
    generation: 1,
    event: randomUUID(),
    interface: 'shipper',
    action: ACTIONS[place % ACTIONS.length] ?? '',
    attempt: 1,
    at,
    beganAt: at - 40,
  } as const;
  const answer: Answer = {
    durationMs: 40,
    firstByteMs: 39,
    ip: '203.0.113.7',
    url: `https://receiver.example/webhooks/${place % SUBSCRIPTIONS}`,
    status: 200,
    ...(place % CONNECTED_ONE_IN === 0 && { dnsMs: 2, connectMs: 9, tlsMs: 14 }),
  };
  if (place % FAILED_ONE_IN !== 1) return { ...facts, kind: 'delivered', answer: { ...answer, body: 'ok' } };
  return {
    ...facts,
    kind: 'failed',
    retryAt: at + 1_000,
    answer: { ...answer, status: 503, reason: 'http_5xx', body: REFUSAL },
  };
}
