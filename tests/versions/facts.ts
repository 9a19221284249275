import type { Delivery } from '@waybell/line/delivery';
import type { DeliveryEnd, Outcome } from '@waybell/line/outcomes';
import type { Vehicle } from '@waybell/location-tracker/vehicle';

/** Facts for each format: one with every member, and one without optional members. */
export const ACCOUNT = '0b9c2f6e-7d1f-4e57-8f5e-000000000004';
export const EVENT = '0b9c2f6e-7d1f-4e57-8f5e-000000000003';
export const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000002';
const GUID = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const TRACE = '00-0af7651916cd43dd8448eb211c80319c-b7ad6b7169203331-01';
export const AT = 1_700_000_000_000;

export const plain: Delivery = {
  guid: GUID,
  interface: 'carrier',
  action: 'order.created',
  subscription: SUBSCRIPTION,
  generation: 3,
  event: EVENT,
  attempt: 1,
  createdAt: AT,
  // oxlint-disable-next-line fixtures/no-like-values -- nothing was attempted yet
  beganAt: AT,
  body: Buffer.from('{"order":"é"}'),
};

export const full: Delivery = {
  ...plain,
  interface: 'shipper',
  attempt: 5,
  byHand: { why: 'resend', fromAttempt: 3 },
  beganAt: AT + 1,
  dueAt: AT + 2,
  traceparent: TRACE,
};

const failedEnd = { delivery: EVENT, subscription: SUBSCRIPTION, generation: 5, isDelivered: false, at: AT + 2 };

export const ends: DeliveryEnd[] = [
  { delivery: GUID, subscription: SUBSCRIPTION, generation: 3, isDelivered: true, at: AT },
  { delivery: EVENT, subscription: SUBSCRIPTION, generation: 4, isDelivered: false, at: AT + 1 },
  { ...failedEnd, reason: 'http_5xx', status: 500 },
  { ...failedEnd, reason: 'expired', isUncounted: true },
  { ...failedEnd, isGone: true },
];

const about = { event: EVENT, interface: 'carrier', action: 'order.created', at: AT } as const;
const attempted = { ...about, delivery: GUID, subscription: SUBSCRIPTION, generation: 3, attempt: 1 } as const;
const attemptedFully = { ...attempted, waited: 'hung', byHand: 'test', body: Buffer.from('{"order":"é"}') } as const;
const answer = {
  durationMs: 12,
  status: 500,
  reason: 'http_5xx',
  url: 'https://a.test/hook',
  ip: '192.0.2.1',
} as const;
const times = { dnsMs: 1, connectMs: 2, tlsMs: 3, firstByteMs: 9, body: 'no' };
const keys = [{ kind: 'order_id', key: '4711' }];

export const outcomes: Outcome[] = [
  { kind: 'routed', ...about, keys: [], receivers: [], deliveries: [], suppressed: [] },
  {
    kind: 'routed',
    ...about,
    keys,
    receivers: [ACCOUNT],
    kept: { accounts: [ACCOUNT], body: Buffer.from('{"guid":"é"}'), contentType: 'application/json' },
    deliveries: [{ subscription: SUBSCRIPTION, account: ACCOUNT }],
    suppressed: [{ reason: 'feature_off', account: ACCOUNT, client: 'other', subscription: EVENT }],
  },
  { kind: 'rejected', ...about, interface: null, keys, receivers: [ACCOUNT], reason: 'not_json', detail: 'at 1' },
  { kind: 'rejected', ...about, keys, receivers: [], reason: 'not_a_delivery', detail: 'a note', delivery: GUID },
  { kind: 'delivered', ...attempted, beganAt: AT - 1, answer: { durationMs: 3, status: 200 } },
  { kind: 'failed', ...attemptedFully, beganAt: AT - 1, answer: { ...answer, ...times }, retryAt: AT + 60_000 },
  { kind: 'exhausted', ...attemptedFully, beganAt: AT - 1, answer },
  { kind: 'exhausted', ...attempted, beganAt: AT - 1, reason: 'expired' },
  { kind: 'dropped', ...attempted, reason: 'unsubscribed' },
  {
    kind: 'deactivated',
    interface: 'carrier',
    action: 'order.created',
    at: AT,
    subscription: SUBSCRIPTION,
    generation: 3,
    account: ACCOUNT,
    client: 'default',
    rule: 'exhausted',
    delivery: GUID,
  },
];

export const vehicle: Vehicle = {
  activity: { isActive: true, notedAt: AT, activatedBy: EVENT },
  track: { seenAt: AT + 1, announced: { latitude: 52.5, longitude: -13.25, report: GUID } },
};

export const unknownVehicle: Vehicle = { activity: null, track: null };
