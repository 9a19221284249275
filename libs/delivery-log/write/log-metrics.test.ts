import { describe, expect, test } from '@jest/globals';
import { createMetrics } from '@waybell/runtime/metrics';
import { LogMetrics } from './log-metrics.ts';

describe('the metrics of the delivery log', () => {
  test('show every kind from the start, so that Prometheus sees the first of each as an increase', async () => {
    const metrics = createMetrics('test');
    const figures = new LogMetrics(metrics);
    const shown = async (kind: string) =>
      new RegExp(`^waybell_log_records_total\\{kind="${kind}".*\\} (\\d+)$`, 'm').exec(await metrics.metrics())?.[1];
    expect([await shown('delivered'), await shown('outdated')]).toEqual(['0', '0']);
    figures.outdated(1);
    expect([await shown('delivered'), await shown('outdated')]).toEqual(['0', '1']);
  });
});
