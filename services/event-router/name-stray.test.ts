import { describe, expect, test } from '@jest/globals';
import type { Message } from '@waybell/line/messages';
import { nameStray } from './name-stray.ts';

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
  test('names the key that no queue takes', async () => {
    const [rejection] = await nameStray(aStray());
    expect(rejection).toMatchObject({ kind: 'reject', reason: 'unroutable' });
    expect(rejection).toMatchObject({ detail: expect.stringContaining('"carrier.order.creatd"') });
  });

  test.each([
    ['expired', 'expired'],
    ['delivery_limit', 'delivery_limit'],
    ['maxlen', 'dead_lettered'],
  ])('rejects what the broker gave up as %s with the reason %s', async (deadLetterReason, reason) => {
    expect(await nameStray(aStray({ deadLetterReason }))).toMatchObject([{ kind: 'reject', reason }]);
  });
});
