import { beforeAll, describe, expect, test } from '@jest/globals';
import { createToken } from '../../tokens.ts';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import type { LiveReader } from '../../testing/live-reader.ts';
import { LiveStand, type Us } from '../../testing/live-stand.ts';
import { aDelivered, aDropped, aFailed, anExhausted } from '@waybell/delivery-log/testing/log-stand';
import { shared } from '@waybell/runtime/testing/shared';

const stand = shared(() => LiveStand.start());
let us: Us;
const deliveriesIn = (reader: LiveReader) => reader.of('attempt').map((data) => data['delivery_guid']);
const eventsIn = (reader: LiveReader) => reader.of('suppressed').map((data) => data['event_guid']);

/** Resolves once every reader of the account has got all earlier events. */
async function untilToldAll(...readers: LiveReader[]): Promise<void> {
  const { delivery } = await stand.happens(us, [aFailed(), anExhausted({ attempt: 2 })]);
  for (const reader of readers) await until('the last one is told', () => deliveriesIn(reader).includes(delivery));
}

describe('GET /v1/live', () => {
  beforeAll(async () => {
    us = await stand.someone();
  });

  test('tells attempts however they ended, each once', async () => {
    await using reader = await stand.read(us);
    const delivered = await stand.happens(us, [aDelivered()]);
    const others = [
      await stand.happens(us, [aDelivered({ attempt: 2, answer: { durationMs: 5, status: 204, body: 'secret' } })]),
      await stand.happens(us, [aFailed()]),
      await stand.happens(us, [anExhausted()]),
      await stand.happens(us, [aDropped()]),
    ];
    await untilToldAll(reader);
    const wanted = [delivered, ...others].map(({ delivery }) => delivery);
    const found = deliveriesIn(reader);
    expect(wanted.map((each) => found.filter((other) => other === each).length)).toEqual([1, 1, 1, 1, 1]);
    expect(reader.of('attempt').find((data) => data['delivery_guid'] === delivered.delivery)).toEqual({
      delivery_guid: delivered.delivery,
      event_guid: delivered.event,
      action: 'order.created',
      keys: [{ kind: 'order_guid', key: delivered.subject }],
      subscription_guid: us.subscription,
      callback_url: 'https://a.test',
      attempt: { attempt: 1, at: expect.any(String), kind: 'delivered', http_status: 200, duration_ms: 12 },
    });
    expect(JSON.stringify(reader.told)).not.toContain('secret');
  });

  test('tells events that nothing was sent of, and why', async () => {
    await using reader = await stand.read(us);
    const event = await stand.isSuppressed(us);
    await until('it is told', () => eventsIn(reader).includes(event));
    expect(reader.of('suppressed')).toEqual([
      {
        event_guid: event,
        action: 'order.updated',
        at: expect.any(String),
        keys: [],
        kind: 'suppressed',
        reason: 'no_subscription',
        meaning: expect.any(String),
        remedy: expect.any(String),
        cause: 'never_subscribed',
      },
    ]);
  });

  test('tells what is asked for alone', async () => {
    await using all = await stand.read(us);
    await using failed = await stand.read(us, { query: '?kind=failed' });
    await using updated = await stand.read(us, { query: '?action=order.updated' });
    const wanted = await stand.happens(us, [aFailed()]);
    await stand.happens(us, [anExhausted()]);
    const event = await stand.isSuppressed(us);
    await untilToldAll(all, failed);
    await until('the event is told', () => eventsIn(updated).length > 0);
    expect(deliveriesIn(failed)[0]).toBe(wanted.delivery);
    expect(failed.of('attempt').map(({ attempt }) => attempt)).not.toContainEqual(
      expect.objectContaining({ kind: 'exhausted' }),
    );
    expect([eventsIn(failed), eventsIn(updated), deliveriesIn(updated)]).toEqual([[], [event], []]);
  });

  test('tells notices of its client as the platform is told them, once, also after a reader came back, and not others', async () => {
    const other = await stand.someone();
    const off = (whose: Us) =>
      stand.api.store.postgres.query(
        `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted' where guid = $1`,
        [whose.subscription],
      );
    const publish = () => stand.api.store.postgres.query('update waybell.notices set published_at = now()');
    const me = await stand.someone();
    const toldOf = (reader: LiveReader) => reader.of('notice').map(({ kind }) => kind);
    let lastId: string;
    {
      await using reader = await stand.read(me);
      await using attempts = await stand.read(me, { query: '?kind=failed' });
      for (const each of [me, other]) await off(each);
      await publish();
      await until('it is told', () => toldOf(reader).length > 0);
      expect(reader.of('notice')).toMatchObject([
        { kind: 'subscription.switched_off', account_guid: me.account, subscription_guid: me.subscription },
      ]);
      expect(reader.of('notice')[0]).not.toHaveProperty('account_name');
      expect(toldOf(attempts)).toEqual([]);
      lastId = reader.lastId();
    }
    await stand.api.store.postgres.query(
      'update waybell.subscriptions set ended_at = now() where guid = any ($1::uuid[])',
      [[me.subscription, other.subscription]],
    );
    await publish();
    await using again = await stand.read(me, { lastId });
    await until('the next is told', () => toldOf(again).length > 0);
    expect(toldOf(again)).toEqual(['subscription.ended']);
  });

  test('goes on where a reader left off, with what it missed, once, though that is older than what it was told', async () => {
    const told = [];
    let [lastId, openedMs] = ['', 0];
    {
      await using reader = await stand.read(us);
      openedMs = wallClockMs();
      await until('what is told is of a later time', () => wallClockMs() > openedMs + 1);
      told.push(await stand.happens(us, [aFailed()]), await stand.happens(us, [aDelivered()]));
      await until('both are told', () => deliveriesIn(reader).length === 2);
      lastId = reader.lastId();
    }
    const late = await stand.happens(us, [anExhausted()], wallClockMs() - openedMs - 1);
    const missed = await stand.happens(us, [aDelivered()]);
    await using reader = await stand.read(us, { lastId });
    await untilToldAll(reader);
    const found = deliveriesIn(reader);
    const fromBefore = [late, missed, ...told].map(({ delivery }) => found.filter((each) => each === delivery).length);
    expect(fromBefore).toEqual([1, 1, 0, 0]);
  });

  test('tells a record that comes late to the log', async () => {
    const lastId = `${(wallClockMs() - 20_000).toString(36)}.`;
    await using reader = await stand.read(us, { lastId });
    await untilToldAll(reader);
    const { delivery } = await stand.happens(us, [aFailed()], 10_000);
    await untilToldAll(reader);
    expect(deliveriesIn(reader).filter((each) => each === delivery)).toEqual([delivery]);
  });

  test("never tells what is another account's, or another client's", async () => {
    const stranger = await stand.someone();
    const token = await createToken(stand.api.store.postgres, { accountGuid: us.account, clientId: 'other' });
    await using ours = await stand.read(us);
    await using strangers = await stand.read(stranger);
    await using others = await stand.read({ token });
    await stand.isSuppressed(us, { suppressed: [{ reason: 'feature_off', account: us.account, client: 'default' }] });
    await untilToldAll(ours);
    const { delivery } = await stand.happens(stranger, [aFailed()]);
    await until('the stranger has its own', () => deliveriesIn(strangers).includes(delivery));
    const event = await stand.isSuppressed(us);
    await until('the event is told to each client', () => eventsIn(others).includes(event));
    expect([deliveriesIn(strangers), eventsIn(strangers), deliveriesIn(others)]).toEqual([[delivery], [], []]);
    expect(JSON.stringify(others.told)).not.toContain('feature_off');
    expect(deliveriesIn(ours)).not.toContain(delivery);
  });

  test('says how much it leaves out where more happens than it carries', async () => {
    await using reader = await stand.read(us);
    const many = Array.from({ length: 700 }, (_, place) => aFailed({ attempt: place + 1 }));
    await stand.happens(us, many);
    await until('it says so', () => reader.of('skipped').length > 0);
    await untilToldAll(reader);
    expect(reader.of('attempt').length).toBeLessThan(700);
    expect(reader.of('skipped')[0]).toEqual({ since: expect.any(String), until: expect.any(String) });
  });

  test.each([
    ['?kind=lost', undefined, /kind must be one of: delivered, failed, exhausted, dropped, suppressed/],
    ['?action=order.creatd', undefined, /action must be an action of the carrier interface.*order\.created/],
    ['', 'x', /Last-Event-ID must be the id of an event of this feed; leave the header out to begin now/],
  ])('refuses "%s" with the id %s, and says what is right', async (query, lastId, detail) => {
    const headers = lastId === undefined ? {} : { 'last-event-id': lastId };
    const answer = await stand.api.ask('GET', `/v1/live${query}`, { token: us.token, headers });
    expect([answer.status, answer.body.detail]).toEqual([422, expect.stringMatching(detail)]);
  });
});
