import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { Gate, type GateOptions } from './run-step.ts';

const HOLD_MS = 10_000;

/** A gate, its clock, and its reports in order. */
function aGate(options: Partial<GateOptions> = {}) {
  const clock = new TurnedClock();
  const said: string[] = [];
  const gate = new Gate({
    clock,
    log,
    holdMs: HOLD_MS,
    beforeGivingBack: async () => void said.push('pausing'),
    onOutlasted: () => void said.push('outlasted'),
    onBack: () => void said.push('back'),
    ...options,
  });
  return { gate, clock, said };
}
const never = () => new Promise<void>(() => undefined);
const away = (probe: () => Promise<unknown>) => new Unavailable('postgres', probe);

describe('Gate', () => {
  test('asks ever more slowly until what is away is back, and says what it waits for', async () => {
    const { gate, clock, said } = aGate();
    const probedAt: number[] = [];
    const probe = async () => {
      if (probedAt.push(clock.now()) < 3) throw new Error('still away');
    };
    // One probe, however many callers report the outage.
    for (let count = 0; count < 10; count += 1) gate.shut(away(probe));
    await clock.runFor(349);
    expect(gate.waitingFor()).toEqual(['postgres']);
    expect(said).toEqual([]);
    await clock.runFor(1);
    expect(said).toEqual(['back']);
    expect(probedAt).toEqual([50, 150, 350]);
    expect(gate.waitingFor()).toEqual([]);
  });

  test('says that it takes too long after its time, and not before nothing more can come', async () => {
    const pausing = Promise.withResolvers<void>();
    const { gate, clock, said } = aGate({ beforeGivingBack: () => pausing.promise });
    gate.shut(away(never));
    await clock.runFor(HOLD_MS);
    expect(said).toEqual([]);
    pausing.resolve();
    await settled();
    expect(said).toEqual(['outlasted']);
  });

  test('goes on asking after a long outage', async () => {
    let isBack = false;
    const { gate, clock, said } = aGate();
    gate.shut(
      away(async () => {
        if (!isBack) throw new Error('still away');
      }),
    );
    await clock.runFor(HOLD_MS - 1);
    expect(said).toEqual([]);
    await clock.runFor(1);
    isBack = true;
    await clock.runFor(5_000);
    expect(said).toEqual(['pausing', 'outlasted', 'back']);
  });

  test('does not say that it takes too long what came back meanwhile', async () => {
    const pausing = Promise.withResolvers<void>();
    let isBack = false;
    const { gate, clock, said } = aGate({ beforeGivingBack: () => pausing.promise });
    gate.shut(
      away(async () => {
        if (!isBack) throw new Error('still away');
      }),
    );
    await clock.runFor(HOLD_MS);
    isBack = true;
    await clock.runFor(5_000);
    pausing.resolve();
    await settled();
    expect(said).toEqual(['back']);
  });

  test.each([
    ['ever more slowly where the probe succeeds and the work does not', 0, [50, 100, 200, 400]],
    ['from the first delay on where the work went well for a while', 10_001, [50, 50, 50, 50]],
  ])('probes %s', async (_, wellMs, delays) => {
    const { gate, clock } = aGate();
    const waits: number[] = [];
    for (let outage = 0; outage < 4; outage += 1) {
      await clock.runFor(wellMs);
      const beganAt = clock.now();
      gate.shut(away(async () => void waits.push(clock.now() - beganAt)));
      await clock.runFor(400);
    }
    expect(waits).toEqual(delays);
  });

  test('closed asks no more and leaves no timer', async () => {
    const { gate, clock, said } = aGate();
    gate.shut(away(never));
    gate.close();
    await settled();
    expect(said).toEqual([]);
    expect(clock.nextAt()).toBeUndefined();
  });
});
