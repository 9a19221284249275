import { expect, test } from '@jest/globals';
import { unexpected } from './unexpected.ts';

const rejection = (body: string, reason = 'not_json') => ({ messageId: 'undefined', reason, body });
const malformed = [rejection('{'), rejection('{')];
const amiss = (...rejections: ReturnType<typeof rejection>[]) =>
  unexpected({ owed: [], seen: [], outcomes: [], rejections }, malformed);

test('two requests under an unknown webhook-id are both reported', () => {
  const to = { subscription: 's', delivery: 'd', path: '/path', token: 'token', body: '{}' };
  const owed = [{ event: 'e', account: 'a', to, ends: [] }];
  const seen = ['d', 'x', 'x'].map((delivery) => ({ ...to, delivery, attempt: 1 }));
  const stranger = 'attempt 1 at unknown x came to /path';
  expect(unexpected({ owed, seen, outcomes: [], rejections: [] }, [])).toEqual([stranger, stranger]);
});

test('what is malformed is rejected, each once and with its reason', () => {
  expect(amiss(...malformed)).toEqual([]);
  expect(amiss(rejection('{'))).toEqual(['malformed and not rejected so: not_json: {']);
  expect(amiss(...malformed, rejection('{'))).toEqual(['rejected, which nobody was owed: not_json: {']);
  expect(amiss(rejection('{'), rejection('{', 'forged'))).toHaveLength(2);
});

test('what is rejected and was owed to no receiver is reported', () => {
  expect(amiss(...malformed, rejection('good'))).toEqual(['rejected, which nobody was owed: not_json: good']);
});
