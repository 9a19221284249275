import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { forget } from './forget.ts';
import { deliveryHistory } from './read/history.ts';
import { bodyOf } from './read/bodies.ts';
import { anExhausted, LogStand, START } from './testing/log-stand.ts';
import { putPublications } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LogStand.start());
const ids = () => ({ event: randomUUID(), subject: randomUUID(), delivery: randomUUID(), subscription: randomUUID() });

const tables = () => stand.store.postgres;

describe('forget', () => {
  test('deletes what was quoted from an event and from its deliveries when they were rejected', async () => {
    const { event, subject, delivery } = ids();
    const of = { event, interface: 'carrier', action: 'order.created', reason: 'handler_failed' } as const;
    const rejection = { kind: 'rejected', ...of, receivers: [], detail: 'in {"name":"Jane Doe"}' } as const;
    await stand.write([
      { ...rejection, keys: [{ kind: 'order_guid', key: subject }], at: START },
      { ...rejection, keys: [], at: START + 20, delivery },
    ]);
    await forget(stand.store.postgres, { key: subject });
    const quotes = 'select from delivery_log.events where event = $1 and rejected_detail is not null';
    expect(await stand.rows(quotes, [event])).toEqual([]);
  });

  test('deletes what was sent and answered about a subject, and leaves all else', async () => {
    const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, body: 'Jane Doe' };
    const exhausted = anExhausted({ body: '{"name":"Jane Doe"}', answer });
    const [gone, kept] = [await stand.log([exhausted]), await stand.log([exhausted])];
    expect(await forget(stand.store.postgres, { key: gone.subject })).toEqual({
      events: 1,
      bodies: 1,
      answers: 1,
      waiting: 0,
      onItsWay: 0,
    });
    expect(await bodyOf(stand.store.postgres, gone.delivery)).toBeUndefined();
    expect(await bodyOf(stand.store.postgres, kept.delivery)).toContain('Jane Doe');
    expect(await deliveryHistory(stand.store.postgres, { delivery: gone.delivery }, 'operator')).toMatchObject({
      status: 'exhausted',
      attempts: [{ httpStatus: 500, why: { reason: 'http_5xx' } }],
    });
    const answers = await stand.rows(
      'select answer from delivery_log.attempts where delivery = $1 and answer is not null',
      [gone.delivery],
    );
    expect(answers).toEqual([]);
  });
});

describe('forget, where a delivery waits,', () => {
  const rowsOf = (subscription: string) =>
    stand.rows<{ body: Buffer | null; is_due: boolean }>(
      `select body, look_at <= now() as is_due from waybell.deliverer_waiting join waybell.deliverer_rooms using (room)
       where subscription = $1`,
      [subscription],
    );
  const putOff = () => stand.rows(`update waybell.deliverer_rooms set look_at = now() + interval '1 hour'`);

  test('deletes what waits about a subject, and has its room looked at; what else waits stays', async () => {
    const [gone, kept] = [await stand.logWaiting(), await stand.logWaiting()];
    await putOff();
    expect(await forget(tables(), { key: gone.subject })).toMatchObject({ events: 1, waiting: 1 });
    expect(await rowsOf(gone.subscription)).toMatchObject([{ body: null, is_due: true }]);
    expect(await rowsOf(kept.subscription)).toMatchObject([{ body: kept.waiting.body, is_due: false }]);
  });

  test('finds what waits where its subscription led before', async () => {
    const { subject, subscription } = await stand.logWaiting();
    await stand.rows(`update waybell.subscriptions set callback_url = 'https://a.test/now' where guid = $1`, [
      subscription,
    ]);
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(await rowsOf(subscription)).toMatchObject([{ body: null }]);
  });

  test('leaves a room to the process that has it, until the end of its claim', async () => {
    const { subject, subscription } = await stand.logWaiting();
    await putOff();
    await stand.rows(
      `update waybell.deliverer_rooms set claimed_by = gen_random_uuid()
       where room in (select room from waybell.deliverer_waiting where subscription = $1)`,
      [subscription],
    );
    expect(await forget(tables(), { key: subject })).toMatchObject({ waiting: 1 });
    expect(await rowsOf(subscription)).toMatchObject([{ body: null, is_due: false }]);
  });

  test('counts publications that wait for the broker, whatever they are about', async () => {
    const { subject } = await stand.logWaiting();
    const { onItsWay } = await forget(tables(), { key: subject });
    await putPublications(tables(), 'router', 'x y', 3);
    expect((await forget(tables(), { key: subject })).onItsWay).toBe(onItsWay + 3);
  });
});
