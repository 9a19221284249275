import { describe, expect, test } from '@jest/globals';
import { Counter, Histogram } from 'prom-client';
import { serveHealth } from './health.ts';
import { CounterOnDemand, createMetrics, HistogramOnDemand, openMetrics } from './metrics.ts';

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

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const OPEN_METRICS = { accept: 'application/openmetrics-text;version=1.0.0;q=0.5,text/plain;version=0.0.4;q=0.2' };

/** Names and values, without exemplars: those of the process change. */
function seriesIn(text: string): string[] {
  const lines = text.split('\n').filter((line) => line.startsWith('waybell_'));
  return lines.map((line) => line.replace(/ # .*/, ''));
}

function someMetrics() {
  const metrics = createMetrics('test');
  const spec = { name: 'waybell_test_seconds', help: 'of a test', labelNames: ['step'] as const, buckets: [1, 5, 10] };
  const histogram = new HistogramOnDemand(metrics, spec);
  histogram.observe({ step: 'a' }, 3, TRACE);
  histogram.observe({ step: 'a' }, 0.5);
  histogram.observe({ step: 'b' }, 30, TRACE);
  new CounterOnDemand(metrics, { name: 'waybell_lean_total', help: 'of a test', labelNames: ['step'] }).inc({
    step: 'a',
  });
  new Counter({ name: 'waybell_test_total', help: 'of a test', registers: [metrics] }).inc(3);
  return metrics;
}

describe('figures', () => {
  test('have the trace that shows one of them, beside the bucket that it is in', async () => {
    const { text } = await openMetrics(someMetrics(), { service: 'test' });
    const exemplars = text.split('\n').filter((line) => line.includes(' # '));
    const [of3, of30] = exemplars.map((line) => line.replace(/[\d.]+$/, 'then'));
    expect(of3).toBe(`waybell_test_seconds_bucket{le="5",service="test",step="a"} 2 # {trace_id="${TRACE}"} 3 then`);
    expect(of30).toBe(
      `waybell_test_seconds_bucket{le="+Inf",service="test",step="b"} 1 # {trace_id="${TRACE}"} 30 then`,
    );
    expect(exemplars).toHaveLength(2);
  });

  test('are the same in both formats, however often either is asked for', async () => {
    const metrics = someMetrics();
    const before = await metrics.metrics();
    const { text } = await openMetrics(metrics, { service: 'test' });
    expect(seriesIn(text).toSorted()).toEqual(seriesIn(before).toSorted());
    expect(seriesIn(await metrics.metrics())).toEqual(seriesIn(before));
    expect(text).toContain('# TYPE waybell_test counter\n');
    expect(text).toMatch(/\n# EOF\n$/);
  });
});

describe('/metrics', () => {
  test.each([
    [true, OPEN_METRICS, 'application/openmetrics-text'],
    [true, {}, 'text/plain'],
    [false, OPEN_METRICS, 'text/plain'],
  ])(
    'shows exemplars where there are traces, %p, to a scraper that takes them, %j',
    async (isTraced, headers, type) => {
      const metrics = someMetrics();
      const at = { host: '127.0.0.1', port: 0, readiness: { waitingFor: () => [] }, metrics };
      const open = { openMetrics: () => openMetrics(metrics, { service: 'test' }) };
      await using health = await serveHealth({ ...at, ...(isTraced && open) });
      const response = await fetch(`http://127.0.0.1:${health.port}/metrics`, {
        headers: { ...headers, connection: 'close' },
      });
      expect(response.headers.get('content-type')).toContain(type);
      expect((await response.text()).includes(TRACE)).toBe(type.startsWith('application'));
    },
  );
});
