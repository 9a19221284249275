import { describe, expect, test } from '@jest/globals';
import { record } from '@waybell/line/testing/told-step';
import { createMetrics } from '@waybell/runtime/metrics';
import { figuresOf } from '@waybell/runtime/testing/figures-of';
import { LogMetrics } from './log-metrics.ts';

const KINDS = ['routed', 'delivered', 'failed', 'exhausted', 'dropped', 'rejected', 'deactivated', 'outdated'];

describe('the metrics of the delivery log', () => {
  test('show every kind from the start, so that Prometheus sees the first of each as an increase', async () => {
    const metrics = createMetrics('test');
    const figures = new LogMetrics(metrics);
    const series = (kind: string) => `waybell_log_records_total{kind="${kind}"}`;
    const none = Object.fromEntries(KINDS.map((kind) => [series(kind), 0]));
    expect(await figuresOf(metrics)).toEqual(none);
    figures.outdated(1);
    figures.written([record('a').outcome, record('b').outcome]);
    expect(await figuresOf(metrics)).toEqual({ ...none, [series('outdated')]: 1, [series('dropped')]: 2 });
  });
});
