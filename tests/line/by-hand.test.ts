import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import { makeNotification } from '@waybell/delivery-log-service/sendings';
import {
  aSubscription,
  anArrival,
  finding,
  FIRST,
  GUID,
  publishedOf,
  recordOf,
  router,
  SHIPPER,
} from '@waybell/event-router/testing/an-arrival';
import { publishDelivery, type Delivery } from '@waybell/line/delivery';
import type { Message } from '@waybell/line/messages';
import { readOutcomes, writeOutcomes } from '@waybell/line/outcome-batch';
import { isAttempted, type Attempted } from '@waybell/line/outcomes';
import { causedBy } from '@waybell/line/testing/handled';
import { messageGuid } from '@waybell/notifications/notification';
import { aLine } from './a-line.ts';
import type { MemoryLine, Receiver } from './memory-line.ts';

const HOUR_MS = 3_600_000;
const shipper = { interface: 'shipper', action: 'order.paid' } as const;
const failing: Receiver = () => ({ status: 500 });

/** Sends a record's delivery again, from this attempt on, as if requested a second ago. */
function resend(line: MemoryLine, record: Attempted | undefined, fromAttempt: number): Delivery {
  if (record?.body === undefined) throw new Error('nothing is known of what was to be sent');
  const { delivery: guid, subscription, generation, event, interface: interfaceName, action, body } = record;
  return {
    guid,
    subscription,
    generation,
    event,
    interface: interfaceName,
    action,
    attempt: fromAttempt,
    byHand: { why: 'resend', fromAttempt },
    createdAt: line.now - 2_000,
    beganAt: line.now - 1_000,
    body: Buffer.from(body),
  };
}

/** Runs the line with one delivery more, and gives what that caused. */
async function run(line: MemoryLine, delivery: Delivery) {
  const [requests, outcomes] = [line.requests.length, line.outcomes.length];
  line.broker.publish(publishDelivery(delivery));
  await line.run();
  return { requests: line.requests.slice(requests), outcomes: line.outcomes.slice(outcomes).filter(isAttempted) };
}

/** A line on which a delivery failed to the end, two days ago; `again` is that delivery, sent again. */
async function anExhausted(what: Parameters<typeof aLine>[0] = {}) {
  const { line, event, subscription } = aLine({ receiver: failing, ...what });
  line.publish(event());
  await line.run();
  await line.skip(48 * HOUR_MS);
  const last = line.outcomes.filter(isAttempted).at(-1);
  return { line, subscription, event, again: resend(line, last, (last?.attempt ?? 0) + 1) };
}

describe('a delivery that is sent again by hand', () => {
  test('is the same message, goes on with the next attempt, and has all its retries again', async () => {
    const { line, again } = await anExhausted({ row: shipper });
    const { requests, outcomes } = await run(line, again);
    expect(requests.map(({ attempt }) => attempt)).toEqual([7, 8, 9, 10, 11, 12]);
    const pausesMs = requests.slice(1).map(({ at }, place) => at - (requests[place]?.endedAt ?? 0));
    expect(pausesMs).toEqual([60_000, 60_000, 60_000, 60_000, 60_000]);
    expect(new Set(line.requests.map(({ guid, body }) => `${guid} ${body.toString()}`)).size).toBe(1);
    expect(outcomes.at(-1)).toMatchObject({ kind: 'exhausted', beganAt: requests[0]?.at });
  });

  test('is over when it arrives, and every record says that it was by hand, the first also what was sent', async () => {
    const { line, subscription, again } = await anExhausted({ row: shipper });
    line.receivers.set(subscription.guid, ({ attempt }) => ({ status: attempt < 9 ? 500 : 200 }));
    const { outcomes } = await run(line, again);
    expect(outcomes.map(({ kind, attempt, byHand, body }) => ({ kind, attempt, byHand, body }))).toEqual([
      { kind: 'failed', attempt: 7, byHand: 'resend', body: again.body },
      { kind: 'failed', attempt: 8, byHand: 'resend', body: undefined },
      { kind: 'delivered', attempt: 9, byHand: 'resend', body: undefined },
    ]);
  });

  test('does not switch its subscription off, though it fails to the end', async () => {
    const { line, subscription, again } = await anExhausted();
    subscription.state = 'active';
    const { outcomes } = await run(line, again);
    expect(outcomes.at(-1)).toMatchObject({ kind: 'exhausted', attempt: 8 });
    expect(line.subscriptions.deactivations).toHaveLength(1);
    expect(subscription.state).toBe('active');
  });

  test('is dropped while its subscription is off, and sent when it is asked for again', async () => {
    const { line, subscription, again } = await anExhausted();
    const { outcomes } = await run(line, again);
    expect(outcomes).toMatchObject([{ kind: 'dropped', reason: 'deactivated', attempt: 5, byHand: 'resend' }]);
    subscription.state = 'active';
    line.receivers.delete(subscription.guid);
    expect((await run(line, resend(line, outcomes[0], 5))).outcomes).toMatchObject([{ kind: 'delivered', attempt: 5 }]);
  });

  test('waits while its receiver asks to be left alone, as what is new does', async () => {
    const { line, subscription, event, again } = await anExhausted();
    subscription.state = 'active';
    const refuses: Receiver = ({ attempt }) => (attempt === 1 ? { status: 429, retryAfter: '30' } : { status: 200 });
    line.receivers.set(subscription.guid, refuses);
    line.publish(event());
    await line.runFor(100);
    const refusedAt = line.requests.at(-1)?.at ?? 0;
    const { requests } = await run(line, again);
    const sent = requests.find(({ guid }) => guid === again.guid);
    expect(sent?.at).toBeGreaterThanOrEqual(refusedAt + 30_000);
  });

  test('is sent, though that very attempt had waited in a room before its delivery was dropped', async () => {
    const slow: Receiver = () => ({ status: 200, afterMs: 2_500 });
    const { line, event, subscription } = aLine({
      receiver: slow,
      settings: { DELIVER_WINDOW: '1', DELIVER_PATIENCE: '100ms' },
    });
    line.publish(event());
    line.publish(event());
    await line.runFor(500);
    subscription.state = 'deactivated';
    await line.run();
    expect(line.requests).toHaveLength(1);
    const dropped = line.outcomes.filter(isAttempted).find(({ kind }) => kind === 'dropped');
    subscription.state = 'active';
    const { outcomes } = await run(line, resend(line, dropped, 1));
    expect(outcomes).toMatchObject([{ kind: 'delivered', delivery: dropped?.delivery, attempt: 1 }]);
  });
});

describe('a test of a subscription', () => {
  test.each(['shipper', 'carrier'] as const)(
    'is one attempt, whose failure is its end and does not switch a %s off',
    async (interfaceName) => {
      const { line, subscription } = aLine({
        row: interfaceName === 'shipper' ? shipper : {},
        receiver: failing,
        settings: { DEACTIVATE_ON_EXHAUSTED: 'shipper,carrier' },
      });
      const { guid: _, ...known } = { ...subscription, subscription: subscription.guid };
      const { requests, outcomes } = await run(line, {
        ...known,
        guid: randomUUID(),
        event: randomUUID(),
        attempt: 1,
        byHand: { why: 'test', fromAttempt: 1 },
        createdAt: line.now - 1,
        beganAt: line.now,
        body: Buffer.from('{}'),
      });
      expect(requests).toHaveLength(1);
      expect(outcomes).toMatchObject([{ kind: 'exhausted', attempt: 1, byHand: 'test', body: Buffer.from('{}') }]);
      expect(line.subscriptions.deactivations).toEqual([]);
    },
  );
});

describe('an event that is kept', () => {
  const event = {
    guid: GUID,
    interface: 'shipper',
    action: 'order.paid',
    occurred_at: '2026-11-20T09:30:00Z',
    parties: { shipper: SHIPPER },
    payload: { order_guid: GUID },
  };
  const { guid: id, occurred_at: time, parties, payload } = event;
  const cloudEvent = {
    specversion: '1.0',
    id,
    source: '/a',
    type: 'shipper.order.paid',
    time,
    data: { parties, payload },
  };
  const written = (json: object) => Buffer.from(JSON.stringify(json));
  const ofCloud = { contentType: 'application/cloudevents+json' };

  test.each<[string, Partial<Message>]>([
    ['as it was', { body: written(event) }],
    ['compressed', { body: gzipSync(written(event)), contentEncoding: 'gzip' }],
    ['in UTF-16', { body: Buffer.from(`\uFEFF${JSON.stringify(event)}`, 'utf16le') }],
    ['as a CloudEvent', { body: written(cloudEvent), ...ofCloud }],
    ['as a compressed CloudEvent', { body: gzipSync(written(cloudEvent)), contentEncoding: 'gzip', ...ofCloud }],
  ])('%s becomes the same notification later', async (_, message) => {
    const caused = await causedBy(router(finding({ [SHIPPER]: [aSubscription()] })), anArrival({}, message));
    const [sent] = publishedOf(caused);
    const [record] = readOutcomes(writeOutcomes(recordOf(caused)));
    if (record?.kind !== 'routed' || record.kept === undefined) throw new Error('nothing was kept');
    const { body, contentType = null } = record.kept;
    const kept = { body: Buffer.from(body), contentType, auditFieldSet: null };
    expect(makeNotification({ delivery: messageGuid(GUID, FIRST) }, kept)?.body).toEqual(sent?.body);
    expect(sent?.body).toBeDefined();
  });
});
