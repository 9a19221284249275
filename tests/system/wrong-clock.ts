import { randomUUID } from 'node:crypto';
import { afterAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { rightClocks, setClocks, wrongClocks } from '../testing/clocks.ts';
import { logOf } from '../testing/replica.ts';
import { receiver, settingsOf, stack } from './stand.ts';

const TEN_MINUTES_MS = 600_000;

export function wrongClock(): void {
  describe('a deliverer whose clock is minutes off', () => {
    settingsOf('deliverer', () => wrongClocks);
    afterAll(rightClocks);

    const deliverer = () => stack.stack.service('deliverer');
    const says = async () => (await deliverer().spec.waitsFor()) ?? '';

    test('says so, makes no attempt, and goes on by itself when it is right, whether it started so or was set', async () => {
      const [client, path] = [await stack.client('carrier'), `/${randomUUID()}`];
      await client.subscribe('order.created', receiver.url(path));
      const waited = () => logOf(deliverer().spec).filter(({ dependency }) => dependency === 'clock').length;
      for (const [round, offMs] of [TEN_MINUTES_MS, -TEN_MINUTES_MS].entries()) {
        setClocks(offMs);
        // It comes back by itself.
        if (round === 0) await deliverer().kill();
        await until('it says both clocks', async () => /^clock: here \S+Z, Postgres \S+Z$/.test(await says()));
        const before = waited();
        await client.hear('order.created');
        await until('it has the delivery', () => waited() > before);
        expect(receiver.at(path)).toHaveLength(round);
        rightClocks();
        const received = await receiver.untilReceived(path, round + 1);
        expect(received.map(({ headers }) => headers['x-webhook-attempt'])).toEqual(Array(round + 1).fill('1'));
        await until('it is ready', async () => (await says()) === '');
      }
    });
  });
}
