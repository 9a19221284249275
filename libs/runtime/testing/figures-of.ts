import type { Metrics } from '../metrics.ts';

/** Returns what a scrape shows of Waybell's own metrics, without buckets, by name and labels: `waybell_a{of="b"}`. */
export async function figuresOf(metrics: Metrics): Promise<Record<string, number>> {
  const lines = (await metrics.metrics()).matchAll(/^(waybell_\w+)(?<!_bucket)\{(.*)\} (\S+)$/gm);
  return Object.fromEntries(
    [...lines].map(([, name, all = '', figure]) => {
      const labels = all.split(',').filter((label) => !label.startsWith('service='));
      return [`${name}${labels.length === 0 ? '' : `{${labels.join()}}`}`, Number(figure)];
    }),
  );
}
