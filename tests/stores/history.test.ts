import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { describeEvent } from '@waybell/cli/why/describe-history';
import { failingOrigins, oldestUndelivered } from '@waybell/subscription-api/failing';
import { forget } from '@waybell/delivery-log/forget';
import { deliveryHistory, eventHistory, timelineOf } from '@waybell/delivery-log/read/history';
import { bodyOf } from '@waybell/delivery-log/read/bodies';
import type { Reader } from '@waybell/delivery-log/read/entries';
import { messageGuid } from '@waybell/notifications/message-guid';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted, LogStand, START } from './log-stand.ts';

let stand: LogStand;
beforeAll(async () => {
  stand = await LogStand.start();
});
afterAll(() => stand[Symbol.asyncDispose]());

const ids = () => ({ event: randomUUID(), subject: randomUUID(), delivery: randomUUID(), subscription: randomUUID() });
const reader = (account: string, client = 'default'): Reader => ({ account, client, interface: 'carrier' });
const about = (subject: string, who: Reader = 'operator', limit = 10) =>
  timelineOf(stand.store.postgres, { about: { key: subject }, reader: who, limit });

describe('timelineOf', () => {
  test('tells of an event whose delivery was retried until it got through', async () => {
    const { event, subject, account } = await stand.log([
      aFailed({ at: START + 20, retryAt: START + 1_020 }),
      aDelivered({ attempt: 2, at: START + 1_040 }),
    ]);
    const { entries } = await about(subject, reader(account));
    expect(entries).toMatchObject([
      {
        event,
        at: START,
        verdicts: [
          {
            kind: 'delivery',
            delivery: {
              status: 'delivered',
              attempts: [
                { attempt: 1, kind: 'failed', httpStatus: 503, why: { reason: 'http_5xx' }, retryAt: START + 1_020 },
                { attempt: 2, kind: 'delivered', httpStatus: 200, at: START + 1_040 },
              ],
            },
          },
        ],
      },
    ]);
    expect(entries.flatMap((entry) => describeEvent(entry, () => undefined)).join('\n')).toMatch(
      /delivered after 2 attempts/,
    );
  });

  test.each([
    ['waiting', []],
    ['retrying', [aFailed()]],
    ['exhausted', [aFailed(), anExhausted({ attempt: 4, at: START + 7_000 })]],
    ['dropped', [aFailed(), aDropped({ attempt: 2, at: START + 1_000 })]],
    // Two chains ran after a crash: what was delivered is delivered.
    ['delivered', [aDelivered(), anExhausted({ at: START + 5 })]],
  ])('knows how a delivery stands that is %s', async (status, attempts) => {
    const { delivery, event } = await stand.log(attempts);
    expect(await deliveryHistory(stand.store.postgres, { delivery, event }, 'operator')).toMatchObject({ status });
  });

  test('tells each account and each client of its own, and why there is nothing', async () => {
    const { event, subject, subscription } = ids();
    const [ours, theirs, nobodys] = [randomUUID(), randomUUID(), randomUUID()];
    const delivery = messageGuid(event, subscription);
    await stand.own({ interface: 'carrier', subscription, account: ours, client: 'first' }, 'order.created');
    await stand.write([
      aRouted({
        event,
        keys: [{ kind: 'order_guid', key: subject }],
        receivers: [ours, theirs],
        deliveries: [{ subscription, account: ours }],
        suppressed: [{ reason: 'feature_off', account: theirs, client: 'default', subscription: randomUUID() }],
      }),
    ]);
    const verdictsFor = async (who: Reader) => (await about(subject, who)).entries.flatMap(({ verdicts }) => verdicts);
    expect(await verdictsFor(reader(ours, 'first'))).toMatchObject([{ kind: 'delivery', delivery: { delivery } }]);
    expect(await verdictsFor(reader(ours, 'second'))).toMatchObject([
      { kind: 'suppressed', reason: 'no_subscription' },
    ]);
    expect(await verdictsFor(reader(theirs))).toMatchObject([{ kind: 'suppressed', reason: 'feature_off' }]);
    expect(await verdictsFor('operator')).toHaveLength(2);
    expect(await about(subject, reader(nobodys))).toEqual({ entries: [] });
    expect(await deliveryHistory(stand.store.postgres, { delivery }, reader(theirs))).toBeUndefined();
    expect(await deliveryHistory(stand.store.postgres, { delivery }, reader(ours, 'second'))).toBeUndefined();
  });

  test('tells operators what receivers answered, and clients with each delivery', async () => {
    const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, body: 'Not now' };
    const { subject, delivery, account } = await stand.log([anExhausted({ answer })]);
    const verdictTo = async (who: Reader) => (await about(subject, who)).entries[0]?.verdicts[0];
    expect(await verdictTo('operator')).toMatchObject({ delivery: { attempts: [{ answer: 'Not now' }] } });
    expect(await verdictTo(reader(account))).toMatchObject({
      delivery: { attempts: [expect.not.objectContaining({ answer: expect.anything() })] },
    });
    expect(await deliveryHistory(stand.store.postgres, { delivery }, reader(account))).toMatchObject({
      attempts: [{ answer: 'Not now' }],
    });
  });

  test('tells of events and deliveries that were rejected', async () => {
    const { event, subject, delivery, account } = await stand.log([], { at: START + 9 });
    const of = { kind: 'rejected', event, interface: 'carrier', action: 'order.created' } as const;
    const invalid = { reason: 'payload_invalid', detail: '/payload/id: must be' };
    await stand.write([
      { ...of, ...invalid, keys: [{ kind: 'order_guid', key: subject }], receivers: [account], at: START },
      { ...of, reason: 'process_killed', detail: 'died', delivery, keys: [], receivers: [], at: START + 20 },
    ]);
    expect((await about(subject, reader(account))).entries).toMatchObject([
      { verdicts: [{ kind: 'delivery', delivery: { status: 'rejected', why: { reason: 'process_killed' } } }] },
      { verdicts: [{ kind: 'rejected', reason: 'payload_invalid', detail: '/payload/id: must be' }] },
    ]);
    expect(await eventHistory(stand.store.postgres, event, 'operator')).toHaveLength(2);
  });
});

describe('timelineOf what Waybell itself failed on', () => {
  test('tells how to operators alone', async () => {
    const { event, subject } = ids();
    const account = randomUUID();
    const of = { event, interface: 'carrier', action: 'order.created', at: START } as const;
    const detail = 'TypeError: of {"name":"Jane Doe"}';
    const rejection = { kind: 'rejected', reason: 'handler_failed', detail } as const;
    await stand.write([{ ...of, ...rejection, keys: [{ kind: 'order_guid', key: subject }], receivers: [account] }]);
    const remedy = expect.stringContaining('operator');
    expect((await about(subject)).entries).toMatchObject([{ verdicts: [{ detail, remedy }] }]);
    expect((await about(subject, reader(account))).entries).toMatchObject([{ verdicts: [{ detail: '', remedy }] }]);
  });
});

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
    const tables = await stand.rows(
      'select answer from delivery_log.attempts where delivery = $1 and answer is not null',
      [gone.delivery],
    );
    expect(tables).toEqual([]);
  });
});

describe('what fails', () => {
  test('is told by account and origin, with the oldest that have no end', async () => {
    const account = randomUUID();
    const answer = { durationMs: 1, status: 500, reason: 'http_5xx' as const, url: 'https://a.test/hook?key=***' };
    await stand.log([aFailed({ answer }), anExhausted({ answer, attempt: 2, at: START + 9 })], { account });
    await stand.log([aDelivered({ answer: { durationMs: 1, status: 200, url: 'https://a.test/other' } })], { account });
    const elsewhere = aFailed({ answer: { ...answer, url: 'https://b.test:8443/' } });
    const { delivery } = await stand.log([elsewhere], { account });
    const asked = { sinceMs: START - 1, account, limit: 10 };
    expect(await failingOrigins(stand.store.postgres, asked)).toEqual([
      { account, origin: 'https://a.test', failed: 2, attempts: 3, reason: 'http_5xx' },
      { account, origin: 'https://b.test:8443', failed: 1, attempts: 1, reason: 'http_5xx' },
    ]);
    expect(await oldestUndelivered(stand.store.postgres, asked)).toMatchObject([{ delivery, attempts: 1 }]);
  });

  test('lists as many without an end as are asked for, though one event caused several', async () => {
    const account = randomUUID();
    const caused = (count: number) => Array.from({ length: count }, () => ({ subscription: randomUUID(), account }));
    for (const [place, count] of [1, 3].entries())
      await stand.write([aRouted({ at: START + place, receivers: [account], deliveries: caused(count) })]);
    expect(await oldestUndelivered(stand.store.postgres, { sinceMs: START - 1, account, limit: 3 })).toHaveLength(3);
  });

  test('is no test by hand, whatever becomes of it', async () => {
    const account = randomUUID();
    await stand.log([anExhausted({ byHand: 'test' })], { account });
    const { delivery, event, subscription } = await stand.log([], { account });
    const asked = { sinceMs: START - 1, account, limit: 10 };
    expect(await oldestUndelivered(stand.store.postgres, asked)).toMatchObject([{ delivery }]);
    await stand.rows(
      `insert into delivery_log.sendings (guid, why, delivery, event, interface, action, account, client, subscription,
         generation, from_attempt, requested_by, due_at, published_at)
       values (gen_random_uuid(), 'test', $1, $2, 'carrier', 'order.created', $3, 'default', $4, 1, 1, 'a test', now(), now())`,
      [delivery, event, account, subscription],
    );
    expect(await oldestUndelivered(stand.store.postgres, asked)).toEqual([]);
    expect(await failingOrigins(stand.store.postgres, asked)).toEqual([]);
  });
});
