import { describe, expect, test } from '@jest/globals';
import { Counter, Histogram } from 'prom-client';
import { CounterOnDemand, HistogramOnDemand, createMetrics } from './metrics.ts';

const labelNames = ['step', 'result'] as const;
const counterSpec = { name: 'waybell_test_total', help: 'of a test', labelNames };
const histogramSpec = { name: 'waybell_test_seconds', help: 'of a test', labelNames, buckets: [0.001, 0.5, 1, 10] };

const LABELS = [
  { step: 'deliverer', result: 'handled' },
  { step: 'deliverer', result: 'repeated' },
  { step: 'event-router', result: 'handled' },
  { step: 'deliverer', result: 'a "quoted"\nline' },
];
// On bounds, between them, below the first and above the last.
const VALUES = [0, 0.0005, 0.001, 0.0011, 0.5, 0.75, 1, 9.99, 10, 10.01, 3_600];

describe('CounterOnDemand', () => {
  test('shows what a counter of prom-client shows, whenever it is asked', async () => {
    const [metrics, plainMetrics] = [createMetrics('test'), createMetrics('test')];
    const lean = new CounterOnDemand(metrics, counterSpec);
    const plain = new Counter({ ...counterSpec, registers: [plainMetrics] });
    const shown = () => metrics.getSingleMetricAsString(counterSpec.name);
    const expected = () => plainMetrics.getSingleMetricAsString(counterSpec.name);
    expect(await shown()).toBe(await expected());
    for (const [by, labels] of [...LABELS, ...LABELS].entries()) {
      for (const counter of [lean, plain]) counter.inc({ ...labels }, by);
      for (const counter of [lean, plain]) counter.inc({ ...labels });
      expect(await shown()).toBe(await expected());
    }
  });
});

describe('HistogramOnDemand', () => {
  test('shows what a histogram of prom-client shows, whenever it is asked', async () => {
    const [metrics, plainMetrics] = [createMetrics('test'), createMetrics('test')];
    const lean = new HistogramOnDemand(metrics, histogramSpec);
    const plain = new Histogram({ ...histogramSpec, buckets: [...histogramSpec.buckets], registers: [plainMetrics] });
    const shown = () => metrics.getSingleMetricAsString(histogramSpec.name);
    const expected = () => plainMetrics.getSingleMetricAsString(histogramSpec.name);
    expect(await shown()).toBe(await expected());
    for (const labels of LABELS) {
      for (const value of VALUES) for (const histogram of [lean, plain]) histogram.observe({ ...labels }, value);
      expect(await shown()).toBe(await expected());
    }
    expect(await metrics.getSingleMetric(histogramSpec.name)?.get()).toEqual(
      await plainMetrics.getSingleMetric(histogramSpec.name)?.get(),
    );
  });
});
