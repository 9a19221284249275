/**
 * The metrics of a process. Counters and histograms here cost next to nothing between scrapes: prom-client checks labels and builds
 * a string of them at each observation, so what happens thousands of times a second is counted in plain numbers, which each scrape
 * hands over to prom-client.
 */
import {
  collectDefaultMetrics,
  Counter,
  Gauge,
  Histogram,
  Registry,
  type CounterConfiguration,
  type HistogramConfiguration,
  type OpenMetricsContentType,
} from 'prom-client';

export type Metrics = Registry;

/** How often the event loop's delay is measured: each time wakes an idle process, by default a hundred times a second. */
const EVENT_LOOP_CHECK_MS = 1_000;

/** Makes the process's registry, with Node's default metrics. Names begin with `waybell_` and follow Prometheus' rules. */
export function createMetrics(service: string): Metrics {
  const metrics = new Registry();
  metrics.setDefaultLabels({ service });
  collectDefaultMetrics({ register: metrics, eventLoopMonitoringPrecision: EVENT_LOOP_CHECK_MS });
  return metrics;
}

type GaugeSpec<Label extends string> = { name: string; help: string; labelNames?: Label[] };
type MetricReading<Label extends string> = { labels?: Record<Label, string>; value: number };

/** A gauge that costs nothing between scrapes: each scrape calls `read`, and shows only what that returns. */
export function gaugeOnDemand<Label extends string>(
  metrics: Metrics,
  spec: GaugeSpec<Label>,
  read: () => MetricReading<Label>[],
): void {
  const gauge = new Gauge<Label>({
    ...spec,
    registers: [],
    collect() {
      this.reset();
      for (const { labels, value } of read()) {
        if (labels === undefined) this.set(value);
        else this.set(labels, value);
      }
    },
  });
  metrics.registerMetric(gauge);
}

type Labels<Label extends string> = Readonly<Record<Label, string>>;

type CounterSpec<Label extends string> = Pick<CounterConfiguration<Label>, 'name' | 'help'> & {
  labelNames: readonly Label[];
};

/** A counter that costs next to nothing between scrapes. */
export class CounterOnDemand<Label extends string> {
  readonly #series: Series<Label, { sum: number }>;

  constructor(metrics: Metrics, spec: CounterSpec<Label>) {
    const series = new Series(spec.labelNames, () => ({ sum: 0 }));
    this.#series = series;
    const counter = new Counter({
      ...spec,
      registers: [],
      collect() {
        this.reset();
        for (const { labels, figures } of series.all) this.inc(labels, figures.sum);
      },
    });
    metrics.registerMetric(counter);
  }

  inc(labels: Labels<Label>, by = 1): void {
    this.#series.of(labels).sum += by;
  }
}

type HistogramSpec<Label extends string> = Pick<HistogramConfiguration<Label>, 'name' | 'help'> & {
  labelNames: readonly Label[];
  /** Upper bounds, in ascending order. */
  buckets: readonly number[];
};

/** A histogram that costs next to nothing between scrapes, with exemplars. */
export class HistogramOnDemand<Label extends string> {
  readonly #bounds: readonly number[];
  readonly #series: Series<Label, Observed>;

  constructor(metrics: Metrics, spec: HistogramSpec<Label>) {
    const { buckets } = spec;
    const series = new Series<Label, Observed>(spec.labelNames, () => ({
      sum: 0,
      counts: [...buckets, Infinity].map(() => 0),
    }));
    this.#bounds = buckets;
    this.#series = series;
    const histogram = new Histogram({
      ...spec,
      buckets: [...buckets],
      registers: [],
      collect() {
        // prom-client accepts no sums, so they are put into its own storage; a test compares the results of both.
        Object.assign(this, { hashMap: series.all.map(({ labels, figures }) => storedForm(labels, buckets, figures)) });
      },
    });
    metrics.registerMetric(histogram);
  }

  /** `traceId`: a sampled trace that shows such an observation. */
  observe(labels: Labels<Label>, value: number, traceId?: string): void {
    const figures = this.#series.of(labels);
    let bucket = 0;
    while (value > (this.#bounds[bucket] ?? Infinity)) bucket += 1;
    figures.counts[bucket] = (figures.counts[bucket] ?? 0) + 1;
    figures.sum += value;
    if (traceId !== undefined) (figures.exemplars ??= [])[bucket] = { traceId, value, atMs: Date.now() };
  }
}

/** Observations per bucket, the last without an upper bound; and each bucket's last observation with a trace. */
type Observed = { sum: number; counts: number[]; exemplars?: Exemplar[] };
type Exemplar = { traceId: string; value: number; atMs: number };

/** Key under which prom-client stores the exemplar of the last bucket. */
const NO_BOUND = -1;

/** Returns the observations of one set of labels in prom-client's own form. */
function storedForm(labels: object, buckets: readonly number[], { sum, counts, exemplars }: Observed): object {
  const bucketValues = Object.fromEntries(buckets.map((bound, place) => [bound, counts[place]]));
  const shown = { labels, bucketValues, sum, count: counts.reduce((total, count) => total + count) };
  if (exemplars === undefined) return shown;
  const storedExemplars = exemplars.map(({ traceId, value, atMs }, place) => [
    buckets[place] ?? NO_BOUND,
    { labelSet: { trace_id: traceId }, value, timestamp: atMs / 1_000 },
  ]);
  // Sparse: most buckets have none.
  return { ...shown, bucketExemplars: Object.fromEntries(storedExemplars.filter(() => true)) };
}

type Branch<Figures> = { figures?: Figures; next: Map<string, Branch<Figures>> };

/** The figures of each set of labels that was ever used, found label by label. */
class Series<Label extends string, Figures> {
  readonly all: { labels: Labels<Label>; figures: Figures }[] = [];
  readonly #root: Branch<Figures> = { next: new Map() };
  readonly #labelNames: readonly Label[];
  readonly #begin: () => Figures;

  constructor(labelNames: readonly Label[], begin: () => Figures) {
    this.#labelNames = labelNames;
    this.#begin = begin;
  }

  of(labels: Labels<Label>): Figures {
    let branch = this.#root;
    for (const name of this.#labelNames) branch = branch.next.get(labels[name]) ?? addTo(branch, labels[name]);
    return (branch.figures ??= this.#add(labels));
  }

  #add(labels: Labels<Label>): Figures {
    const figures = this.#begin();
    this.all.push({ labels: { ...labels }, figures });
    return figures;
  }
}

function addTo<Figures>(branch: Branch<Figures>, value: string): Branch<Figures> {
  const added: Branch<Figures> = { next: new Map() };
  branch.next.set(value, added);
  return added;
}

/** Metrics as a scraper gets them. */
export type Shown = { text: string; contentType: string };

/** Returns the metrics in OpenMetrics' format, the only one with exemplars. `labels` are added to each. */
export async function openMetrics(metrics: Metrics, labels: Record<string, string>): Promise<Shown> {
  const registry = new Registry<OpenMetricsContentType>();
  registry.setContentType(Registry.OPENMETRICS_CONTENT_TYPE);
  registry.setDefaultLabels(labels);
  for (const { name } of metrics.getMetricsAsArray()) {
    // A copy: prom-client renames the counters that it shows in this format, for good.
    registry.registerMetric(Object.create(metrics.getSingleMetric(name) ?? null));
  }
  return { text: await registry.metrics(), contentType: registry.contentType };
}

export type SpanResult = 'sent' | 'failed' | 'dropped';

/** Counts spans for `export-spans.ts`, which not all that documents metrics can load. */
export function countSpans(metrics: Metrics): (result: SpanResult, number: number) => void {
  const spans = new CounterOnDemand(metrics, {
    name: 'waybell_spans_total',
    help: 'Spans: sent, failed (not taken by the collector), dropped (too many waited)',
    labelNames: ['result'],
  });
  return (result, number) => spans.inc({ result }, number);
}
