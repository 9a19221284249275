import { describe, expect, test } from '@jest/globals';
import { integrator, type Integrator } from '../testing/integrator.ts';
import { receiver, settingsOf, stack } from './stand.ts';

const ROUNDS = 15;

const aCarrier = () => integrator({ stack, receiver, interfaceName: 'carrier' });

async function medianMs(work: (round: number) => Promise<number>): Promise<number> {
  const each: number[] = [];
  for (let round = 0; round < ROUNDS; round += 1) each.push(await work(round));
  return each.toSorted((one, other) => one - other)[Math.trunc(ROUNDS / 2)] ?? NaN;
}

/** From publishing an event until its callback has come. */
const callbackMs = (carrier: Integrator) =>
  medianMs(async () => {
    const asked = receiver.at(carrier.path).length;
    const publishedAt = performance.now();
    await carrier.hear();
    return ((await carrier.untilAsked(asked + 1)).at(-1)?.at ?? NaN) - publishedAt;
  });

describe('the time it takes', () => {
  test('until a subscription is off is a few times that of a callback, at most', async () => {
    const usual = await callbackMs(await aCarrier());
    const off = await medianMs(async () => {
      const carrier = await aCarrier();
      carrier.answer(500);
      await carrier.hear();
      const last = (await carrier.untilAsked(4)).at(-1);
      await carrier.untilOff();
      return performance.now() - (last?.at ?? NaN);
    });
    expect(off / usual).toBeLessThan(10);
  });

  describe('while a receiver hangs', () => {
    settingsOf('deliverer', () => ({ DELIVER_SLOTS: '20', DELIVER_SLOW: '1s' }));

    test('until a callback comes to another is as before', async () => {
      const healthy = await aCarrier();
      const before = await callbackMs(healthy);
      const hanging = await aCarrier();
      const { promise: isOver, resolve: end } = Promise.withResolvers<void>();
      hanging.answer((response) => void isOver.then(() => response.writeHead(500).end()));
      for (let count = 0; count < 30; count += 1) await hanging.hear();
      await hanging.untilAsked(1);
      const beside = await callbackMs(healthy);
      end();
      await hanging.untilOff();
      expect(beside / before).toBeLessThan(3);
    });
  });
});
