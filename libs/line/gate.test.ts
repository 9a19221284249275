import { describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { Gate, type GateOptions } from './gate.ts';

const log = createLog({ service: 'test', level: 'silent' });
const HOLD_MS = 10_000;

/** A gate, its clock, and what came of those who arrived, in order. */
function aGate(options: Partial<GateOptions> = {}) {
  const clock = new TurnedClock();
  const seen: string[] = [];
  const onGiveBack = async () => void seen.push('paused');
  const onReopen = () => void seen.push('reopened');
  const gate = new Gate({ clock, log, holdMs: HOLD_MS, onGiveBack, onReopen, ...options });
  const arrive = () => void gate.pass().then((goOn) => seen.push(goOn ? 'passed' : 'given back'));
  return { gate, clock, seen, arrive };
}
const never = () => new Promise<void>(() => undefined);
const away = (probe: () => Promise<unknown>) => new Unavailable('postgres', probe);

describe('Gate', () => {
  test('lets everybody pass while it is open', async () => {
    expect(await aGate().gate.pass()).toBe(true);
  });

  test('holds everybody until the probe succeeds, asked ever more slowly, and says what it waits for', async () => {
    const { gate, clock, seen, arrive } = aGate();
    const probedAt: number[] = [];
    const probe = async () => {
      if (probedAt.push(clock.now()) < 3) throw new Error('still away');
    };
    // One probe, however many find it away.
    for (let count = 0; count < 10; count += 1) gate.shut(away(probe));
    arrive();
    arrive();
    await clock.runFor(349);
    expect(gate.waitingFor()).toEqual(['postgres']);
    expect(seen).toEqual([]);
    await clock.runFor(1);
    expect(seen).toEqual(['reopened', 'passed', 'passed']);
    expect(probedAt).toEqual([50, 150, 350]);
    expect(gate.waitingFor()).toEqual([]);
  });

  test('sends everybody back after its time, and not before nothing more can come', async () => {
    const pausing = Promise.withResolvers<void>();
    const { gate, clock, seen, arrive } = aGate({ onGiveBack: () => pausing.promise });
    gate.shut(away(never));
    arrive();
    await clock.runFor(HOLD_MS);
    expect(seen).toEqual([]);
    pausing.resolve();
    await settled();
    expect(seen).toEqual(['given back']);
  });

  test('is passed again after a long outage, once the dependency is back', async () => {
    let isBack = false;
    const { gate, clock, seen, arrive } = aGate();
    gate.shut(
      away(async () => {
        if (!isBack) throw new Error('still away');
      }),
    );
    arrive();
    await clock.runFor(HOLD_MS - 1);
    expect(seen).toEqual([]);
    await clock.runFor(1);
    isBack = true;
    await clock.runFor(5_000);
    arrive();
    await settled();
    expect(seen).toEqual(['paused', 'given back', 'reopened', 'passed']);
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

  test('closed sends everybody back at once, though the probe hangs, and leaves no timer', async () => {
    const { gate, clock, seen, arrive } = aGate();
    gate.shut(away(never));
    arrive();
    gate.close();
    arrive();
    await settled();
    expect(seen).toEqual(['given back', 'given back']);
    expect(clock.nextAt()).toBeUndefined();
  });
});
