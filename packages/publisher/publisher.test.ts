import { getEventListeners } from 'node:events';
import { afterEach, beforeEach, describe, expect, jest, test } from '@jest/globals';
import { BreakableBroker, smallTopology } from '@waybell/line/testing/test-broker';
import { eventsExchange } from '@waybell/line/topology';
import { declareTopology } from '@waybell/line/operating/declare';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { NotConfirmed } from './publish-errors.ts';
import type { PublisherOptions } from './publisher-options.ts';
import { createPublisher, type Publisher } from './publisher.ts';
import { anEvent } from './testing/an-event.ts';
import { tapped } from './testing/tapped.ts';
import { writeEvent } from './write-event.ts';

const broker = shared(() => BreakableBroker.start());
let publisher: Publisher;

/** Limits that a test is not about are never reached. */
const PATIENT = { heartbeatSeconds: 600, confirmTimeoutMs: 600_000 };
const aPublisher = (options: Partial<PublisherOptions> = {}) =>
  (publisher = createPublisher({ url: broker.detour.url, ...PATIENT, ...options }));

beforeEach(() => {
  aPublisher();
});
afterEach(async () => {
  broker.detour.flow();
  await publisher.close({ withinMs: 0 });
});
const another = async (options: Partial<PublisherOptions>) => {
  await publisher.close();
  return aPublisher(options);
};

describe('createPublisher', () => {
  test('publishes an event as the contract says, and resolves with its guid', async () => {
    const queue = await tapped(broker);
    const { guid } = await publisher.publish(anEvent());
    const [message] = await broker.take(queue);
    expect(message?.fields.routingKey).toBe('carrier.order.created');
    expect(message?.properties).toMatchObject({ messageId: guid, contentType: 'application/json', deliveryMode: 2 });
    expect(JSON.parse(String(message?.content))).toMatchObject({ guid, payload: { id: 4711 } });
    expect(publisher.figures()).toEqual({ unconfirmed: 0, confirmed: 1, resent: 0 });
  });

  test('names the user of its connection where it is told to', async () => {
    const queue = await tapped(broker);
    const userId = new URL(broker.url).username;
    await another({ userId });
    await publisher.publish(anEvent());
    expect((await broker.take(queue)).map(({ properties }) => properties.userId)).toEqual([userId]);
  });

  test('names a user that is not that of its connection', async () => {
    await another({ userId: 'nobody' });
    const refused = publisher.publish(anEvent()).catch(String);
    await until('it says so', () => publisher.trouble()?.includes("'nobody'"));
    await publisher.close({ withinMs: 0 });
    expect(await refused).toContain("'nobody'");
  });

  test('sends again what a lost connection left unconfirmed, with the same guid and bytes', async () => {
    await publisher.publish(anEvent());
    const queue = await tapped(broker);
    broker.detour.stall('answers');
    const published = Promise.all(Array.from({ length: 50 }, (_, id) => publisher.publish(anEvent(id))));
    const first = await broker.takeBodies(queue, 50);
    broker.detour.flow();
    broker.detour.cut();
    const guids = (await published).map(({ guid }) => guid);
    const again = await broker.takeBodies(queue, 50);
    expect(again.toSorted()).toEqual(first.toSorted());
    expect(new Set(again.map((body) => JSON.parse(body).guid))).toEqual(new Set(guids));
  });

  test('sends again what the broker refuses, until it takes it', async () => {
    const queue = await tapped(broker, {
      'x-queue-type': 'classic',
      'x-max-length': 1,
      'x-overflow': 'reject-publish',
    });
    const published = Promise.all([1, 2, 3, 4, 5].map((id) => publisher.publish(anEvent(id))));
    await until('some were refused', () => publisher.figures().resent > 0 && publisher.trouble() !== undefined);
    const taken = new Set<string>();
    let isDone = false;
    void published.then(() => (isDone = true));
    await until('all are confirmed', async () => {
      for (const { content } of await broker.take(queue)) taken.add(content.toString());
      return isDone;
    });
    for (const { content } of await broker.take(queue)) taken.add(content.toString());
    expect(new Set([...taken].map((body) => JSON.parse(body).payload.id))).toEqual(new Set([1, 2, 3, 4, 5]));
    expect(taken.size).toBe(5);
    await broker.delete(queue);
  });

  test('waits for an exchange that is missing, says so, and never declares it', async () => {
    await publisher.close();
    await broker.on((channel) => channel.deleteExchange(eventsExchange));
    const said: unknown[] = [];
    aPublisher({ log: { info: () => undefined, warn: (facts) => said.push(facts) } });
    const published = publisher.publish(anEvent());
    const trouble = await until('it says what is missing', () => {
      const now = publisher.trouble();
      return now?.includes("no exchange 'waybell.events'") && now;
    });
    expect(trouble).toContain('./waybell declare');
    expect(said).toContainEqual(expect.objectContaining({ reason: trouble }));
    await declareTopology(broker, smallTopology);
    await expect(published).resolves.toEqual({ guid: expect.any(String) });
    expect(publisher.trouble()).toBeUndefined();
  });

  test('waits while the broker has an alarm, and says so', async () => {
    await publisher.publish(anEvent());
    await broker.alarm(true);
    const published = publisher.publish(anEvent());
    await until('it hears of the alarm', () => publisher.trouble()?.includes('takes nothing for now'));
    expect(publisher.figures().unconfirmed).toBe(1);
    await broker.alarm(false);
    await published;
  });

  test('waits for room before it sends more', async () => {
    await another({ bufferBytes: 1 });
    await publisher.publish(anEvent());
    const queue = await tapped(broker);
    broker.detour.stall('answers');
    const [one, other] = [writeEvent(anEvent(1)), writeEvent(anEvent(2))];
    const sent = Promise.all([publisher.send(one), publisher.send(other)]);
    await broker.takeBodies(queue, 1);
    expect(broker.detour.said).not.toContain(other.guid);
    broker.detour.flow();
    await sent;
    expect(broker.detour.said).toContain(other.guid);
  });

  test('waits no longer than its caller, and sends nothing of what did not find room', async () => {
    await another({ bufferBytes: 1 });
    await publisher.publish(anEvent());
    broker.detour.stall('everything');
    const given = new AbortController();
    const events = [writeEvent(anEvent(1)), writeEvent(anEvent(2))];
    const sent = events.map((event) => publisher.send(event, { signal: given.signal }));
    given.abort();
    for (const [index, each] of sent.entries())
      await expect(each).rejects.toMatchObject({ name: 'NotConfirmed', guid: events[index]?.guid });
    broker.detour.flow();
    await publisher.publish(anEvent(3));
    expect(broker.detour.said).not.toContain(events[1]?.guid);
    await expect(publisher.publish(anEvent(), { signal: given.signal })).rejects.toBeInstanceOf(NotConfirmed);
  });

  test('waits for confirms when it is closed, and takes nothing more', async () => {
    const published = publisher.publish(anEvent());
    await expect(publisher.close({ withinMs: 600_000 })).resolves.toEqual({ unconfirmed: [] });
    await expect(published).resolves.toEqual({ guid: expect.any(String) });
    await expect(publisher.publish(anEvent())).rejects.toThrow('the publisher is closed');
  });

  test('tells when it is closed what the broker has not confirmed', async () => {
    await publisher.publish(anEvent());
    broker.detour.stall('answers');
    const event = writeEvent(anEvent());
    const sent = publisher.send(event);
    const closed = publisher.close({ withinMs: 0 });
    await expect(sent).rejects.toMatchObject({ guid: event.guid });
    broker.detour.cut();
    await expect(closed).resolves.toEqual({ unconfirmed: [event.guid] });
  });
});

describe('ready, asked at each turn of a loop with one signal', () => {
  const stays = (signal: AbortSignal) => ({
    listeners: getEventListeners(signal, 'abort').length,
    timers: process.getActiveResourcesInfo().filter((kind) => kind === 'Timeout').length,
  });

  test('makes nothing that stays, and no composite signal', async () => {
    const any = jest.spyOn(AbortSignal, 'any');
    const { signal } = new AbortController();
    await publisher.ready({ signal });
    const before = stays(signal);
    for (let turn = 0; turn < 100_000; turn += 1) await publisher.ready({ signal });
    expect(stays(signal).listeners).toBe(0);
    expect(stays(signal).timers).toBeLessThanOrEqual(before.timers + 10);
    expect(any).not.toHaveBeenCalled();
    any.mockRestore();
  });

  test('listens only while it waits, and ends by either signal', async () => {
    // It has no connection yet.
    const fresh = await another({});
    const { signal } = new AbortController();
    const given = new AbortController();
    const waiting = Array.from({ length: 100 }, () => fresh.ready({ signal }));
    const ended = fresh.ready({ signal: given.signal });
    expect(getEventListeners(signal, 'abort')).toHaveLength(100);
    given.abort(new Error('enough'));
    await expect(ended).rejects.toThrow('enough');
    await Promise.all(waiting);
    expect(getEventListeners(signal, 'abort')).toEqual([]);
    expect(getEventListeners(given.signal, 'abort')).toEqual([]);
  });
});
