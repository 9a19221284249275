import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { integrator } from '../testing/integrator.ts';
import { FEW_SLOTS, IMPATIENT, receiver, settingsOf, stack } from './stand.ts';

/** For each receiver. */
const EVENTS = FEW_SLOTS + 10;
const HEALTHY = 3;

/** How many deliveries of a subscription ended so. */
async function ended(subscription: string, ends: string[]): Promise<number> {
  const { rows } = await stack.postgres.query<{ count: number }>(
    'select count(distinct delivery)::int from delivery_log.attempts where subscription = $1 and kind = any($2)',
    [subscription, ends],
  );
  return rows[0]?.count ?? 0;
}

export function hangingReceiver(): void {
  describe('a receiver that never answers', () => {
    settingsOf('deliverer', () => IMPATIENT);

    test('holds up only itself, and each of its deliveries comes to an end', async () => {
      const aCarrier = () => integrator({ stack, receiver, interfaceName: 'carrier' });
      const hanging = await aCarrier();
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      hanging.answer((response) => void isOver.then(() => response.writeHead(500).end()));
      const healthy = await Promise.all(Array.from({ length: HEALTHY }, aCarrier));
      for (let count = 0; count < EVENTS; count += 1) await hanging.hear();
      await hanging.untilAsked(1);
      for (const each of healthy) for (let count = 0; count < EVENTS; count += 1) await each.hear();

      for (const each of healthy) {
        const requests = await each.untilAsked(EVENTS);
        expect(new Set(requests.map(({ headers }) => headers['webhook-id'])).size).toBe(EVENTS);
      }
      // It is asked now and then whether it answers.
      expect(receiver.at(hanging.path).length).toBeLessThan(EVENTS);

      end();
      const { guid } = await hanging.untilOff();
      // Once one is exhausted the subscription is off, and the others are dropped.
      await until('each has its end', async () => (await ended(guid, ['exhausted', 'dropped'])) === EVENTS);
      expect(await ended(guid, ['exhausted'])).toBeGreaterThan(0);
      expect(await ended(guid, ['delivered'])).toBe(0);
      for (const each of healthy) expect(receiver.at(each.path)).toHaveLength(EVENTS);
    });
  });
}
