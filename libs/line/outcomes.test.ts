import { describe, expect, test } from '@jest/globals';
import type { Message } from './messages.ts';
import { writeOutcomes, type Outcome } from './outcomes.ts';
import { readBatch } from './outcomes.ts';

const aMessage = (body: Buffer): Message => ({
  queue: 'q',
  exchange: 'x',
  routingKey: '',
  body,
  deliveryCount: 0,
  failures: 0,
});
const dropped: Outcome = {
  kind: 'dropped',
  reason: 'unsubscribed',
  delivery: 'd',
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  attempt: 1,
  at: 2,
};

describe('readBatch', () => {
  test('reads what was written', () => {
    expect(readBatch(aMessage(writeOutcomes([dropped, dropped])))).toEqual([dropped, dropped]);
  });

  test.each(['', '[]', 'null', '{"version":1}', '{"version":2,"outcomes":[]}', '{"version":1,"outcomes":{}}'])(
    'rejects %p',
    (text) => {
      expect(readBatch(aMessage(Buffer.from(text)))).toMatchObject({ kind: 'reject', reason: 'not_outcomes' });
    },
  );
});
