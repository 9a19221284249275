import { describe, expect, test } from '@jest/globals';
import { createLog } from '@waybell/runtime/log';
import { Unavailable } from '@waybell/runtime/unavailable';
import { Gate, type GateOptions } from './gate.ts';
import { until } from '@waybell/runtime/testing/until';

const log = createLog({ service: 'test', level: 'silent' });
const aGate = (options: Partial<GateOptions> = {}) =>
  new Gate({ log, holdMs: 60_000, onGiveBack: async () => undefined, onReopen: () => undefined, ...options });
const never = () => new Promise<void>(() => undefined);
const away = (probe: () => Promise<unknown>) => new Unavailable('postgres', probe);

describe('Gate', () => {
  test('lets everybody pass while it is open', async () => {
    expect(await aGate().pass()).toBe(true);
  });

  test('holds everybody until the probe succeeds, and says what it waits for', async () => {
    const gate = aGate();
    let probes = 0;
    gate.shut(
      away(async () => {
        probes += 1;
        if (probes < 3) throw new Error('still away');
      }),
    );
    expect(gate.waitingFor()).toEqual(['postgres']);
    expect(await Promise.all([gate.pass(), gate.pass()])).toEqual([true, true]);
    expect(probes).toBe(3);
    expect(gate.waitingFor()).toEqual([]);
  });

  test('probes once, however many find the dependency away', async () => {
    const gate = aGate();
    let probes = 0;
    for (let count = 0; count < 10; count += 1) gate.shut(away(async () => (probes += 1)));
    await gate.pass();
    expect(probes).toBe(1);
  });

  test('sends everybody back after its time, and not before nothing more can come', async () => {
    const order: string[] = [];
    const gate = aGate({
      holdMs: 10,
      onGiveBack: async () => {
        await new Promise((resolve) => setTimeout(resolve, 30));
        order.push('paused');
      },
    });
    gate.shut(away(never));
    expect(await gate.pass()).toBe(false);
    order.push('given back');
    expect(order).toEqual(['paused', 'given back']);
    gate.close();
  });

  test('is passed again after a long outage, once the dependency is back', async () => {
    let [isBack, isReopened] = [false, false];
    const gate = aGate({ holdMs: 10, onReopen: () => (isReopened = true) });
    gate.shut(
      away(async () => {
        if (!isBack) throw new Error('still away');
      }),
    );
    expect(await gate.pass()).toBe(false);
    isBack = true;
    await until('it is open', () => isReopened);
    expect(await gate.pass()).toBe(true);
  });

  test('probes ever more slowly where the probe succeeds and the work does not', async () => {
    const gate = aGate();
    const waits: number[] = [];
    for (let outage = 0; outage < 4; outage += 1) {
      const beganAt = performance.now();
      gate.shut(away(async () => undefined));
      await gate.pass();
      waits.push(performance.now() - beganAt);
    }
    expect(waits[3]).toBeGreaterThan(350);
  });

  test('closed sends everybody back at once, though the probe hangs', async () => {
    const gate = aGate();
    gate.shut(away(never));
    const waiting = gate.pass();
    gate.close();
    expect(await waiting).toBe(false);
    expect(await gate.pass()).toBe(false);
  });

  test('closed leaves no timer behind', async () => {
    const timers = () => process.getActiveResourcesInfo().filter((name) => name === 'Timeout').length;
    const before = timers();
    const gate = aGate();
    gate.shut(away(never));
    expect(timers()).toBe(before + 2);
    gate.close();
    await new Promise((resolve) => setImmediate(resolve));
    expect(timers()).toBe(before);
  });
});
