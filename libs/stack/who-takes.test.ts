import { expect, test } from '@jest/globals';
import { retryQueue, waitingName } from '@waybell/line/topology';
import { whoTakes } from './who-takes.ts';

test.each([
  ['waybell.events.router', '0 consumers'],
  [retryQueue('shipper.order.paid', 60_000), 'until their next attempt'],
  [waitingName('hung'), 'until they are looked at again'],
  ['waybell.rejected', 'see ./waybell rejected list'],
])('counts the consumers of a queue only where there should be some: %s', (queue, told) => {
  expect(whoTakes(queue, 0)).toBe(told);
});
