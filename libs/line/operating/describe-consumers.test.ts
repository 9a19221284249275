import { expect, test } from '@jest/globals';
import {
  deactivatorQueue,
  operationsQueue,
  rejectionsQueue,
  retryQueue,
  suspectsQueue,
  waitingQueue,
} from '../topology.ts';
import { mayHoldMore, describeConsumers } from './describe-consumers.ts';

test.each([
  ['waybell.events.router', '0 consumers'],
  [retryQueue('shipper.order.paid', 60_000), 'until their next attempt'],
  [waitingQueue, 'until they are looked at again'],
  [suspectsQueue('deliverer'), 'while their service holds what came again'],
  ['waybell.rejected', 'see ./waybell rejected list'],
  [rejectionsQueue, 'for upstream, which was told so of its events'],
  [operationsQueue, 'for the platform, to tell its clients'],
])('counts the consumers of a queue only where there should be some: %s', (queue, told) => {
  expect(describeConsumers(queue, 0)).toBe(told);
});

test.each([
  ['with messages', { messages: 1, consumers: 0, isKnown: true }, false],
  ['that a service takes from', { messages: 0, consumers: 1, isKnown: true }, false],
  ['that no service takes from', { messages: 0, consumers: 0, isKnown: true }, true],
  [
    'that no service is to take from',
    { name: suspectsQueue('deliverer'), messages: 0, consumers: 0, isKnown: true },
    false,
  ],
  [
    'of which nothing was heard in time',
    { name: suspectsQueue('deliverer'), messages: 0, consumers: 0, isKnown: false },
    true,
  ],
])('a queue %s may hold more than it says', (_what, state, may) => {
  expect(mayHoldMore({ name: deactivatorQueue, ...state })).toBe(may);
});
