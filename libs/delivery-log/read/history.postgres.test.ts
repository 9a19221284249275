import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { deliveryHistory, eventHistory, timelineOf } from './history.ts';
import type { Reader } from './entries.ts';
import { messageGuid } from '@waybell/notifications/notification';
import { shared } from '@waybell/runtime/testing/shared';
import { aDelivered, aDropped, aFailed, anExhausted, aRouted, LogStand, START } from '../testing/log-stand.ts';

const stand = shared(() => LogStand.start());
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
