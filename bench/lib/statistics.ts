/** The results of several rounds: the median and the range. */
export type Spread = { median: number; min: number; max: number };

/** The spread of many measurements; all NaN if there were none. */
export type Summary = { count: number; min: number; p50: number; p99: number; max: number };

/** Latencies of one line over many windows: medians of the windows' p50 and p99, and the longest of all, in their unit. */
export type WindowLatency = { windows: number; p50: number; p99: number; longest: number };

/** The middle of an odd number of values, the mean of the two middle ones of an even number; NaN of none. */
export function median(values: readonly number[]): number {
  const sorted = values.toSorted((a, b) => a - b);
  const middle = sorted.length / 2;
  const [below, above] = [sorted[Math.ceil(middle) - 1], sorted[Math.floor(middle)]];
  return below === undefined || above === undefined ? Number.NaN : (below + above) / 2;
}

export function spread(values: readonly number[]): Spread {
  return { median: median(values), min: Math.min(...values), max: Math.max(...values) };
}

/** The smallest value that at least `share` (0 to 1) of the sorted values do not exceed; NaN of none. */
export function percentile(sorted: readonly number[], share: number): number {
  return sorted[Math.max(0, Math.ceil(share * sorted.length) - 1)] ?? Number.NaN;
}

export function summarise(values: readonly number[]): Summary {
  const sorted = values.toSorted((a, b) => a - b);
  const at = (share: number) => percentile(sorted, share);
  return { count: sorted.length, min: at(0), p50: at(0.5), p99: at(0.99), max: at(1) };
}

/**
 * The latency that half of these windows do not exceed: a stall disturbs the window it is in, and not the p99 of the whole. A
 * window in which nothing came counts as one that took for ever.
 */
export function overWindows(windows: readonly Summary[]): WindowLatency {
  const figures = (of: (window: Summary) => number) => windows.map((each) => (each.count > 0 ? of(each) : Infinity));
  return {
    windows: windows.length,
    p50: median(figures(({ p50 }) => p50)),
    p99: median(figures(({ p99 }) => p99)),
    longest: Math.max(...figures(({ max }) => max)),
  };
}
