import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { until } from '@waybell/runtime/testing/until';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { startSweeping } from './location-tracker.ts';
import type { SweepResult } from './sweep.ts';
import { TrackerMetrics } from './tracker-metrics.ts';

function start(sweep: (stop: AbortSignal) => Promise<SweepResult>) {
  const results: string[] = [];
  const onSwept = (result: string) => void results.push(result);
  return { results, sweeping: startSweeping({ sweep, onSwept, intervalMs: 1, log }) };
}

describe('sweeping', () => {
  test('tells how each ended, one that failed included, and goes on', async () => {
    let sweeps = 0;
    const { results, sweeping } = start(async () => {
      sweeps += 1;
      if (sweeps === 1) throw new Error('the server is away');
      return 'done';
    });
    await until('two have ended', () => results.length >= 2);
    await sweeping[Symbol.asyncDispose]();
    expect(results.slice(0, 2)).toEqual(['failed', 'done']);
  });
});

test('the metrics of the tracker tell what became of vehicles, addresses and sweeps', async () => {
  const metrics = createMetrics('test');
  const figures = new TrackerMetrics(metrics);
  figures.countChanges({ activated: ['a'], moved: ['a', 'b'] });
  figures.countDeactivation(log)({ guid: 'd', shipper: 's', vehicles: ['a', 'b', 'c'], happenedAt: 0 });
  figures.countAddress('limited');
  figures.timeSweep('behind', 1_500);
  const shown = await figuresOf(metrics);
  expect(shown).toMatchObject({
    'waybell_gps_vehicles_total{change="activated"}': 1,
    'waybell_gps_vehicles_total{change="moved"}': 2,
    'waybell_gps_vehicles_total{change="deactivated"}': 3,
    'waybell_gps_addresses_total{result="limited"}': 1,
    'waybell_gps_addresses_total{result="failed"}': 0,
    'waybell_gps_sweep_duration_seconds_sum{result="behind"}': 1.5,
    'waybell_gps_sweep_duration_seconds_count{result="done"}': 0,
  });
});
