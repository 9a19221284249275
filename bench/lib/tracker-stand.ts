import { withConstants } from '@waybell/runtime/gone-settings';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { services } from '@waybell/stack/services';
import { startStack, type Stack } from '@waybell/stack/stack';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

/** Servers and the tracker of positions, alone: no service takes what it publishes. */
export type TrackerStand = AsyncDisposable & {
  stack: Stack;
  tracker: SupervisedProcess;
  /** A figure that the tracker shows under that name with that label; 0 where it does not show it yet. */
  figure(series: MetricSeries): Promise<number>;
};

export type MetricSeries = { name: string; label: string };

export async function startTrackerStand(settings: Record<string, string> = {}): Promise<TrackerStand> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-bench-'));
  const { PATH = '', HOME = '' } = process.env;
  const tracker = services.filter(({ name }) => name === 'location-tracker');
  const stack = await startStack({ home, env: { PATH, HOME, ...withConstants(settings) }, services: tracker });
  const service = stack.service('location-tracker');
  return {
    stack,
    tracker: service,
    async figure({ name, label }) {
      const metrics = await (await fetch(`${service.spec.health}/metrics`)).text();
      const line = metrics.split('\n').find((each) => each.startsWith(`${name}{`) && each.includes(label));
      return Number(line?.split(' ').at(-1) ?? 0);
    },
    async [Symbol.asyncDispose]() {
      await stack.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
}
