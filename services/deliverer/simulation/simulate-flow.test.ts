import { describe, expect, test } from '@jest/globals';
import { readFlow, windowSettings } from '../windows/window-settings.ts';
import { readEnvironment, count } from '@waybell/runtime/environment';
import type { Receiver } from './receivers.ts';
import { simulateFlow } from './simulate-flow.ts';

const SLOTS = 50;
const HUNG = 4;
const common = { interface: 'shipper', burst: 1 } as const;

/** Forty that answer at once, and some that never do, with load enough for all slots. */
const RECEIVERS: Receiver[] = [
  ...Array.from({ length: 40 }, (): Receiver => ({ ...common, kind: 'fast', answerMs: () => 10, everyMs: 500 })),
  ...Array.from({ length: HUNG }, (): Receiver => ({
    ...common,
    kind: 'hung',
    answerMs: () => Infinity,
    everyMs: 100,
  })),
];

async function simulated(hasWindows: boolean) {
  const settings = readEnvironment({ DELIVER_SLOTS: count({ default: SLOTS }), ...windowSettings }, {});
  let turn = 0;
  const random = () => ((turn = (turn + 1) % 97) + 0.5) / 97;
  const flow = readFlow(settings);
  const result = await simulateFlow({ receivers: RECEIVERS, flow, hasWindows, durationMs: 10_000, held: 100, random });
  return { ...result, longestMs: (kind: string) => Math.max(...(result.waitsMs.get(kind) ?? [])) };
}

describe('simulateFlow', () => {
  test('shows that with windows the fast are called at once, and each that hangs holds one slot', async () => {
    const { longestMs, slotsUsed, putAside } = await simulated(true);
    // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
    expect(longestMs('fast')).toBeLessThan(500);
    expect(Math.max(...slotsUsed)).toBeLessThan(SLOTS);
    expect(putAside.hung).toBeGreaterThan(0);
  });

  test('shows that without them those that hang take all slots, and the fast wait to the end', async () => {
    const { longestMs, slotsUsed } = await simulated(false);
    expect(longestMs('fast')).toBe(Infinity);
    expect(Math.max(...slotsUsed)).toBe(SLOTS);
  });
});
