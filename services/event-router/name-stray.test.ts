import { describe, expect, test } from '@jest/globals';
import type { Message } from '@waybell/line/messages';
import { nameStray as nameStrayWithin } from './name-stray.ts';

const nameStray = nameStrayWithin({ maxBytes: 1_000 });

const aStray = (what: Partial<Message> = {}): Message => ({
  queue: 'waybell.strays',
  exchange: 'waybell.events',
  routingKey: 'carrier.order.creatd',
  body: Buffer.from('{}'),
  deliveryCount: 0,
  failures: 0,
  ...what,
});

describe('nameStray', () => {
  test('names the key that no queue takes, and the action that was meant', async () => {
    const detail =
      'no queue takes key "carrier.order.creatd" of exchange "waybell.events": a mistyped action? The nearest is carrier.order.created';
    expect(await nameStray(aStray())).toEqual([{ kind: 'reject', reason: 'unroutable', detail }]);
  });

  test("takes no key of the line's own exchanges for a mistyped one", async () => {
    const detail = 'no queue takes key "gone" of exchange "waybell.returns"';
    const stray = aStray({ exchange: 'waybell.returns', routingKey: 'gone' });
    expect(await nameStray(stray)).toEqual([{ kind: 'reject', reason: 'unroutable', detail }]);
  });

  test.each([
    ['expired', 'expired'],
    ['delivery_limit', 'delivery_limit'],
    ['maxlen', 'dead_lettered'],
  ])('rejects what the broker gave up as %s with the reason %s', async (deadLetterReason, reason) => {
    expect(await nameStray(aStray({ deadLetterReason }))).toMatchObject([{ kind: 'reject', reason }]);
  });
});
