import { describe, expect, test } from '@jest/globals';
import type { Message } from '@waybell/line/messages';
import { causedBy, fatesOf } from '@waybell/line/testing/handled';
import { rejectStray as nameStrayWithin } from './router-steps.ts';

const clock = { sleep: async () => undefined };
const handle = nameStrayWithin({ maxBytes: 1_000, clock });
const rejectStray = (stray: Message) => fatesOf(handle, [stray]);

const aStray = (what: Partial<Message> = {}): Message => ({
  queue: 'waybell.strays',
  exchange: 'waybell.events',
  routingKey: 'carrier.order.creatd',
  body: Buffer.from('{}'),
  deliveryCount: 0,
  failures: 0,
  ...what,
});

describe('rejectStray', () => {
  test('names the key that no queue takes, and the action that was meant', async () => {
    const detail =
      'no queue takes key "carrier.order.creatd" of exchange "waybell.events": a mistyped action? The nearest is carrier.order.created';
    expect(await rejectStray(aStray())).toEqual([{ kind: 'reject', reason: 'unroutable', detail }]);
  });

  test("takes no key of the line's own exchanges for a mistyped one", async () => {
    const detail = 'no queue takes key "gone" of exchange "waybell.returns"';
    const stray = aStray({ exchange: 'waybell.returns', routingKey: 'gone' });
    expect(await rejectStray(stray)).toEqual([{ kind: 'reject', reason: 'unroutable', detail }]);
  });

  test.each([
    ['expired', true, 'expired', /its publisher/],
    ['expired', false, 'dead_lettered', /out of waybell\.deliveries\.x \(expired\): a policy does that/],
    ['maxlen', false, 'dead_lettered', /\(maxlen\): a policy/],
    ['delivery_limit', false, 'delivery_limit', /too often/],
  ])(
    'rejects what the broker gave up as %s, of its publisher: %s, with the reason %s',
    async (why, isOfPublisher, reason, detail) => {
      const death = { reason: why, queue: 'waybell.deliveries.x', isOfPublisher };
      expect(await rejectStray(aStray({ death }))).toMatchObject([
        { kind: 'reject', reason, detail: expect.stringMatching(detail) },
      ]);
    },
  );

  test('names what came back too often to where suspects are taken from as one that kills its process', async () => {
    const death = { reason: 'delivery_limit', queue: 'waybell.suspected.deliverer', isOfPublisher: false };
    expect(await rejectStray(aStray({ death }))).toMatchObject([{ kind: 'reject', reason: 'process_killed' }]);
  });

  test('puts back what was rejected before, as it was, and says nothing new of it', async () => {
    const rejected = { reason: 'payload_invalid', detail: '/payload: is missing', at: '2026-11-20T09:30:00.123Z' };
    const death = { reason: 'expired', queue: 'waybell.rejected', isOfPublisher: false, rejected };
    expect(await causedBy(handle, aStray({ queue: 'waybell.events.router', death, userId: 'orders' }))).toEqual([
      {
        kind: 'publish',
        exchange: 'waybell.rejected',
        routingKey: '',
        body: Buffer.from('{}'),
        headers: {
          'waybell-reason': 'payload_invalid',
          'waybell-detail': '/payload: is missing',
          'waybell-at': '2026-11-20T09:30:00.123Z',
          'waybell-queue': 'waybell.events.router',
          'waybell-exchange': 'waybell.events',
          'waybell-routing-key': 'carrier.order.creatd',
          'waybell-user': 'orders',
        },
      },
    ]);
  });
});
