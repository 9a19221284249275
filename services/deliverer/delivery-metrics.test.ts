import { describe, expect, test } from '@jest/globals';
import type { Delivery } from '@waybell/line/delivery';
import { allAtOnce, type End } from '@waybell/line/messages';
import type { Answer, Attempted } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { causedBy } from '@waybell/line/testing/handled';
import { createMetrics, type Metrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { DeliveryMetrics, countCallbacks } from './delivery-metrics.ts';
import { watchEgress } from './egress/egress.ts';
import { watchEndpoints } from './flow/endpoints.ts';
import { aDelivery } from './testing/delivery.ts';

const HOUR_MS = 3_600_000;

const aStep = (handle: Step<Delivery>['handle']): Step<Delivery> => ({
  name: 'deliverer',
  queues: [],
  inHandLimit: { messages: 1, bytes: 1 },
  parse: () => aDelivery(),
  describe: () => ({}),
  handle,
});

/** Returns `/metrics` after an attempt that ended at `at` with this answer. */
async function shownAfter(delivery: Delivery, kind: 'delivered' | 'failed', at: number, answer: Answer) {
  return shownOf(delivery, { kind, ...factsOf(delivery, at), answer, retryAt: at });
}

function factsOf(delivery: Delivery, at: number) {
  const { guid, subscription, generation, event, interface: interfaceName, action, attempt, beganAt } = delivery;
  return { delivery: guid, subscription, generation, event, interface: interfaceName, action, attempt, at, beganAt };
}

async function shownOf(delivery: Delivery, outcome: Attempted) {
  const metrics = createMetrics('test');
  const watched = new DeliveryMetrics(metrics, { now: () => outcome.at }).watch(
    aStep(allAtOnce(async () => [[{ kind: 'outcome', outcome }]])),
  );
  await causedBy(watched.handle, delivery);
  return sumsIn(await metrics.metrics());
}

/** Returns the sums of all histograms, by name and labels. */
function sumsIn(text: string): Record<string, number> {
  const sums = text.matchAll(/^waybell_(\w+)_sum\{service="test",(.*)\} (\S+)$/gm);
  return Object.fromEntries([...sums].map(([, name, labels = '', sum]) => [`${name} ${labels}`, Number(sum)]));
}

describe('the metrics of deliveries', () => {
  test('a test by hand counts for no receiver', async () => {
    const delivery = aDelivery({ createdAt: HOUR_MS, byHand: { why: 'test', fromAttempt: 1 } });
    const shown = await shownAfter(delivery, 'failed', HOUR_MS + 300, {
      status: 500,
      reason: 'http_5xx',
      durationMs: 250,
    });
    expect(Object.keys(shown).filter((name) => name.startsWith('attempt_duration'))).toEqual([]);
  });

  test('a first attempt was due when it was routed', async () => {
    const delivery = aDelivery({ createdAt: HOUR_MS });
    expect(await shownAfter(delivery, 'delivered', HOUR_MS + 300, { status: 200, durationMs: 250 })).toEqual({
      'attempt_lateness_seconds interface="carrier",step="deliverer",attempt="first"': 0.05,
      'attempt_duration_seconds interface="carrier",result="delivered"': 0.25,
      'delivery_duration_seconds interface="carrier",step="deliverer",attempt="first"': 0.3,
    });
  });

  test('a retry was due after its delay, and its delivery takes from the routing on', async () => {
    const delivery = aDelivery({ attempt: 2, createdAt: HOUR_MS, dueAt: HOUR_MS + 1_000 });
    expect(await shownAfter(delivery, 'delivered', HOUR_MS + 1_600, { status: 204, durationMs: 500 })).toEqual({
      'attempt_lateness_seconds interface="carrier",step="deliverer",attempt="retry"': 0.1,
      'attempt_duration_seconds interface="carrier",result="delivered"': 0.5,
      'delivery_duration_seconds interface="carrier",step="deliverer",attempt="retry"': 1.6,
    });
  });

  test('the first attempt of what is sent again by hand was due when that was asked for', async () => {
    const byHand = { why: 'resend', fromAttempt: 5 } as const;
    const delivery = aDelivery({ attempt: 5, byHand, createdAt: HOUR_MS });
    expect(await shownAfter(delivery, 'delivered', HOUR_MS + 300, { status: 200, durationMs: 250 })).toMatchObject({
      'attempt_lateness_seconds interface="carrier",step="deliverer",attempt="first"': 0.05,
    });
  });

  test.each<[string, Answer]>([
    ['refused', { status: 500, reason: 'http_5xx', durationMs: 250 }],
    ['unanswered', { reason: 'response_timeout', durationMs: 250 }],
  ])('a failed attempt is %s, and delivers nothing', async (result, answer) => {
    expect(await shownAfter(aDelivery(), 'failed', 250, answer)).toEqual({
      'attempt_lateness_seconds interface="carrier",step="deliverer",attempt="first"': 0,
      [`attempt_duration_seconds interface="carrier",result="${result}"`]: 0.25,
    });
  });

  test('nothing begins before it was due, whatever the clocks of two machines say', async () => {
    const sums = await shownAfter(aDelivery({ createdAt: 500 }), 'delivered', 400, { status: 200, durationMs: 10 });
    expect(new Set(Object.values(sums))).toEqual(new Set([0, 0.01]));
  });

  test('what expired was not attempted', async () => {
    const delivery = aDelivery();
    const expired = { kind: 'exhausted', ...factsOf(delivery, HOUR_MS), reason: 'expired' } as const;
    expect(await shownOf(delivery, expired)).toEqual({});
  });

  test('what waited in a room is late for its endpoint, and not for want of deliverers', async () => {
    const delivery = aDelivery({ createdAt: 0, waited: { room: '', why: 'full' } });
    expect(await shownAfter(delivery, 'delivered', HOUR_MS, { status: 200, durationMs: 250 })).toEqual({
      'attempt_duration_seconds interface="carrier",result="delivered"': 0.25,
      'delivery_duration_seconds interface="carrier",step="deliverer",attempt="first"': 3_600,
    });
  });

  test('the oldest delivery is the one in hand that has been due longest, and none is 0 s old', async () => {
    const inHand = [1_000, 2_000].map((createdAt) => aDelivery({ createdAt }));
    expect(await oldestAges(inHand)).toEqual(['3599', '0']);
  });

  test.each<[string, Partial<Delivery>]>([
    ['in a room', { waited: { room: '', why: 'hung' } }],
    ['in a queue to wait', { mayWait: true }],
    ['in a room before the attempt that failed', { attempt: 2, dueAt: HOUR_MS }],
  ])('what was %s is not the oldest for that', async (_where, moved) => {
    const inHand = [aDelivery({ createdAt: 0, ...moved }), aDelivery({ createdAt: HOUR_MS - 1_000 })];
    expect(await oldestAges(inHand)).toEqual(['1', '0']);
  });

  test('what was given back before it began is in hand no more', async () => {
    const metrics = createMetrics('test');
    const ends: End[] = [];
    const step = new DeliveryMetrics(metrics, { now: () => HOUR_MS }).watch(
      aStep(async () => (_place, end) => void ends.push(end)),
    );
    const begin = await step.handle(
      [1_000, 2_000, 3_000].map((createdAt) => aDelivery({ createdAt })),
      () => true,
    );
    begin(1, () => undefined);
    expect(await ageIn(metrics)).toBe('3598');
    for (const end of ends) end({ kind: 'done', caused: [] });
    expect(await ageIn(metrics)).toBe('0');
  });
});

const ageIn = async (metrics: Metrics) =>
  /^waybell_oldest_delivery_age_seconds.* (\S+)$/m.exec(await metrics.metrics())?.[1];

/** Returns the metric while these are in hand, at HOUR_MS, and after them. */
async function oldestAges(deliveries: Delivery[]): Promise<(string | undefined)[]> {
  const metrics = createMetrics('test');
  const release = Promise.withResolvers<void>();
  const step = new DeliveryMetrics(metrics, { now: () => HOUR_MS }).watch(
    aStep(async () => {
      await release.promise;
      throw new Error('whatever the end');
    }),
  );
  const handled = Promise.allSettled(deliveries.map((delivery) => step.handle([delivery], () => true)));
  const during = await ageIn(metrics);
  release.resolve();
  await handled;
  return [during, await ageIn(metrics)];
}

test('the metrics of endpoints tell each figure by its name', async () => {
  const metrics = createMetrics('test');
  const slots = { quick: 1, slow: 2, hung: 3, new: 4 };
  const figures = { slots, inHand: 5, endpoints: 6, hung: 7, full: { full: 8, hung: 9, busy: 10 } };
  watchEndpoints({ figures: () => figures }, metrics);
  watchEgress({ isSuspected: true }, metrics);
  const observer = countCallbacks(metrics);
  observer.requested('shipper');
  observer.connected('resumed');
  expect(await figuresOf(metrics)).toEqual({
    'waybell_endpoint_slots_used{trust="quick"}': 1,
    'waybell_endpoint_slots_used{trust="slow"}': 2,
    'waybell_endpoint_slots_used{trust="hung"}': 3,
    'waybell_endpoint_slots_used{trust="new"}': 4,
    waybell_endpoint_in_hand: 5,
    waybell_endpoint_known: 6,
    waybell_endpoint_hung: 7,
    'waybell_endpoint_full_total{why="full"}': 8,
    'waybell_endpoint_full_total{why="hung"}': 9,
    'waybell_endpoint_full_total{why="busy"}': 10,
    waybell_egress_suspected: 1,
    'waybell_callback_requests_total{interface="shipper"}': 1,
    'waybell_callback_connections_total{handshake="resumed"}': 1,
  });
});
