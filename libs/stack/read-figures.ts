/** Metrics of processes. */
export type Figures = {
  /** The sum of all that a metric counts; undefined where it is not there. */
  sumOf(metric: string): number | undefined;
  largestOf(metric: string): number | undefined;
};

const LIMIT_MS = 2_000;

/** Reads the metrics of the processes at these addresses, as those of one; undefined where none answers. */
export async function readFigures(...healths: string[]): Promise<Figures | undefined> {
  const answers = await Promise.all(healths.map(metricsAt));
  const text = answers.filter((answer) => answer !== undefined).join('\n');
  if (text === '') return undefined;
  const valuesOf = (metric: string): number[] =>
    Array.from(text.matchAll(new RegExp(String.raw`^${metric}(?:\{.*\})? (\S+)$`, 'gm')), ([, value]) => Number(value));
  return {
    sumOf: (metric) => some(valuesOf(metric))?.reduce((sum, value) => sum + value, 0),
    largestOf: (metric) => some(valuesOf(metric))?.reduce((one, other) => Math.max(one, other)),
  };
}

async function metricsAt(health: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${health}/metrics`, { signal: AbortSignal.timeout(LIMIT_MS) });
    return await answer.text();
  } catch {
    return undefined;
  }
}

/** Deliveries in one message of a delivery queue, on the mean since the router began; undefined before the first. */
export function deliveriesPerMessage(router: Figures | undefined): number | undefined {
  const [deliveries, messages] = [
    router?.sumOf('waybell_delivery_batch_members_total'),
    router?.sumOf('waybell_delivery_batches_total'),
  ];
  return deliveries === undefined || messages === undefined || messages === 0 ? undefined : deliveries / messages;
}

function some(values: number[]): number[] | undefined {
  return values.length === 0 ? undefined : values;
}
