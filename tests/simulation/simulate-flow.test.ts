import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { readEnvironment, count } from '@waybell/runtime/environment';
import { endpointSettings, readEndpoints } from '@waybell/deliverer/config';
import type { Receiver } from './receivers.ts';
import { simulateFlow, type SimulationOptions } from './simulate-flow.ts';

const SLOTS = 1_024;
const HELD = 1_024;
/** Due times are whole milliseconds; steps of the line take no time. */
const AT_ONCE_MS = 50;

const answering = (ms: number) => () => ms;
const never = () => Infinity;
const aReceiver = (what: Partial<Receiver>): Receiver => ({
  kind: 'fast',
  interface: 'shipper',
  burst: 1,
  everyMs: 500,
  answerMs: answering(10),
  ...what,
});

async function simulated(receivers: Receiver[], what: Partial<SimulationOptions> = {}) {
  const settings = readEnvironment(
    { DELIVER_SLOTS: count({ per: 'process', default: SLOTS }), ...endpointSettings },
    {},
  );
  let turn = 0;
  const random = () => ((turn = (turn + 1) % 97) + 0.5) / 97;
  const endpoints = readEndpoints(settings, HELD);
  const result = await simulateFlow({ receivers, endpoints, durationMs: 10_000, held: HELD, random, ...what });
  return { ...result, longestMs: (kind: string) => Math.max(...(result.waitsMs.get(kind) ?? [])) };
}

const oneHost = { account: 'carrier', host: 'tms' };

describe('an endpoint that answers', () => {
  test('is called at once beside those of its own account and host that never do', async () => {
    const { longestMs, put } = await simulated([
      ...Array.from({ length: 40 }, () => aReceiver(oneHost)),
      ...Array.from({ length: 40 }, () => aReceiver({ ...oneHost, kind: 'hung', answerMs: never, everyMs: 100 })),
    ]);
    // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
    expect(longestMs('fast')).toBeLessThan(AT_ONCE_MS);
    expect(put.hung).toBeGreaterThan(0);
  });

  test('is called at once while 50,000 deliveries wait for one that never does', async () => {
    const { longestMs } = await simulated(
      [aReceiver({ ...oneHost, kind: 'dead', answerMs: never }), aReceiver(oneHost), aReceiver({})],
      { waitingBefore: 50_000 },
    );
    // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
    expect(longestMs('fast')).toBeLessThan(AT_ONCE_MS);
  });

  test('is called at once beside 4,000 deliveries of another account that come at once', async () => {
    const { longestMs } = await simulated([
      aReceiver({ ...oneHost, kind: 'bursting', burst: 4_000, everyMs: 10_000 }),
      ...Array.from({ length: 10 }, () => aReceiver({})),
    ]);
    // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
    expect(longestMs('fast')).toBeLessThan(AT_ONCE_MS);
    // The burst itself has to wait, for all its endpoint's requests.
    expect(longestMs('bursting')).toBeGreaterThan(AT_ONCE_MS);
  });

  test('is called at once beside 3,000 of one account that hang, all new after a restart', async () => {
    const { longestMs } = await simulated([
      ...Array.from({ length: 100 }, () => aReceiver({})),
      ...Array.from({ length: 3_000 }, () =>
        aReceiver({ account: 'many', kind: 'hung', answerMs: never, everyMs: 10_000 }),
      ),
    ]);
    // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
    expect(longestMs('fast')).toBeLessThan(AT_ONCE_MS);
  });

  test('and was away for half a minute has its backlog, beside 1,000 dead ones of as many accounts', async () => {
    const isAway = (at: number) => at >= 30_000 && at < 60_000;
    const { waitsMs } = await simulated(
      [
        ...Array.from({ length: 1_000 }, () => aReceiver({ kind: 'dead', answerMs: never, everyMs: 10_000 })),
        ...Array.from({ length: 20 }, () =>
          aReceiver({
            kind: 'back',
            interface: 'carrier',
            answerMs: (at) => (isAway(at) ? Infinity : 20),
            everyMs: 5_000,
          }),
        ),
      ],
      { durationMs: 130_000 },
    );
    expect(waitsMs.get('back')?.filter((wait) => wait === Infinity)).toEqual([]);
  });

  test('is called at once, whatever others of any account and host do', async () => {
    const way = fc.constantFrom<Partial<Receiver>>(
      { kind: 'fast' },
      { kind: 'slow', answerMs: answering(2_000), everyMs: 5_000 },
      { kind: 'hung', answerMs: never, everyMs: 200 },
      { kind: 'flapping', answerMs: (at) => (Math.floor(at / 5_000) % 2 === 1 ? Infinity : 10), everyMs: 100 },
      { kind: 'failing late', answerMs: answering(2_900), everyMs: 200 },
      { kind: 'bursting', answerMs: answering(20), burst: 100, everyMs: 5_000 },
    );
    const where = fc.record({
      interface: fc.constantFrom('carrier', 'shipper'),
      account: fc.constantFrom('one', 'two', 'three'),
      host: fc.constantFrom('shared', 'another'),
    });
    const mix = fc.array(fc.tuple(way, where), { minLength: 2, maxLength: 40 });
    const law = fc.asyncProperty(mix, async (all) => {
      const { longestMs } = await simulated(all.map(([how, whose]) => aReceiver({ ...how, ...whose })));
      if (longestMs('fast') > AT_ONCE_MS) throw new Error(`one was called ${longestMs('fast')} ms late`);
    });
    await expect(fc.assert(law, { numRuns: 15 })).resolves.toBeUndefined();
  });
});
