import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { hang } from '../testing/hang.ts';
import { tenActions } from '../testing/ten-actions.ts';
import { CARRIER_ATTEMPTS, IMPATIENT, receiver, settingsOf, stack } from './stand.ts';

const HUNG = 3;
const SLOW = 6;
const AT_ONCE = 4;

const attemptsAt = (path: string) => receiver.at(path).map(({ headers }) => headers['x-webhook-attempt']);
const actionsAt = (path: string) =>
  receiver.at(path).map(({ body }) => (JSON.parse(body) as { action: string }).action);

export function ownEndpoint(): void {
  describe('an endpoint that hangs', () => {
    settingsOf('deliverer', () => IMPATIENT);

    test('delays no attempt at another one of the same account on the same host', async () => {
      const carrier = await stack.client('carrier');
      const hung = hang(receiver, `/${randomUUID()}`);
      const [healthy, failing] = [`/${randomUUID()}`, `/${randomUUID()}`];
      receiver.answer(failing, 500);
      await carrier.subscribe('order.created', receiver.url(hung.path));
      await carrier.subscribe('order.assigned', receiver.url(healthy));
      await carrier.subscribe('order.delivered', receiver.url(failing));
      for (let count = 0; count < HUNG; count += 1) await carrier.hear('order.created');
      await until('it hangs', () => hung.open() > 0);

      await carrier.hear('order.assigned');
      await carrier.hear('order.delivered');
      await receiver.untilReceived(healthy, 1);
      await receiver.untilReceived(failing, CARRIER_ATTEMPTS);
      // All of that came before one of those that hang had ended.
      expect(attemptsAt(hung.path)).toEqual(Array.from({ length: hung.open() }, () => '1'));
      expect(attemptsAt(failing)).toEqual(['1', '2', '3', '4']);

      hung.answer(200);
      await until('what hung is delivered', () => deliveriesAt(hung.path) === HUNG);
    });

    test('for one of ten actions takes those of the other nine all the same', async () => {
      const shipper = await stack.client('shipper');
      const [hanging = '', ...others] = tenActions;
      const hung = hang(receiver, `/${randomUUID()}`, ({ body }) => body.includes(`"${hanging}"`));
      for (const action of tenActions) await shipper.subscribe(action, receiver.url(hung.path));
      await shipper.hear(hanging);
      await until('it hangs', () => hung.open() > 0);
      for (const action of others) await shipper.hear(action);
      await until('the others have come', () => others.every((action) => actionsAt(hung.path).includes(action)));
      expect(hung.open()).toBe(1);
      hung.answer(200);
    });
  });

  describe('an endpoint that takes its time', () => {
    test(`has ${AT_ONCE} requests under way at once from the beginning`, async () => {
      const carrier = await stack.client('carrier');
      const slow = hang(receiver, `/${randomUUID()}`);
      await carrier.subscribe('order.created', receiver.url(slow.path));
      for (let count = 0; count < SLOW; count += 1) await carrier.hear('order.created');
      await until(`${AT_ONCE} are under way`, () => slow.open() >= AT_ONCE);
      slow.answer(200);
      await until('all have come', () => deliveriesAt(slow.path) === SLOW);
    });
  });
}

function deliveriesAt(path: string): number {
  return new Set(receiver.at(path).map(({ headers }) => headers['webhook-id'])).size;
}
