import { expect, test } from '@jest/globals';
import { describeOutgoing } from './describe-outgoing.ts';
import type { DeliveryFacts } from './outcomes.ts';

const facts: DeliveryFacts = {
  delivery: 'd',
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  attempt: 1,
  at: 2,
  body: 'sent',
};
const said = { durationMs: 1, url: 'https://a.example/b?c=***', ip: '192.0.2.1', body: 'said' };

test('the line of an attempt in the log says its status and reason, and nothing that was sent or said', () => {
  const answer = { ...said, status: 500, reason: 'http_5xx' };
  const failed = { kind: 'failed', ...facts, beganAt: 1, retryAt: 3, answer } as const;
  expect(describeOutgoing({ kind: 'outcome', outcome: failed })).toBe('failed 500 http_5xx');
  const delivered = { kind: 'delivered', ...facts, beganAt: 1, answer: { ...said, status: 204 } } as const;
  expect(describeOutgoing({ kind: 'outcome', outcome: delivered })).toBe('delivered 204');
});
