import { expect, test } from '@jest/globals';
import { matchesPattern } from './names.ts';

test.each([
  ['order.picked_up', ['order.picked_up'], ['order.picked_up_bol', 'order.picked_up.ignored', 'order.picked', '']],
  ['order.*', ['order.created', 'order.'], ['order', 'offer.sent', 'an.order.created']],
  ['*.ignored', ['offer.sent.ignored'], ['offer.sent.ignored_too', 'offer.ignore']],
  ['offer.*.ignored', ['offer.sent.ignored', 'offer..ignored'], ['offer.ignored', 'offer.sent', 'order.sent.ignored']],
  ['*sent*failed*', ['offer.sent.failed', 'sentfailed'], ['offer.failed.sent', 'offer.sent']],
  ['*', ['order.created', ''], []],
])('%s is the pattern of %j, and not of %j', (pattern, of, notOf) => {
  expect([...of, ...notOf].filter((name) => matchesPattern(name, pattern))).toEqual(of);
});
