import type { Metrics } from './metrics.ts';
import { CounterOnDemand } from './metrics-on-demand.ts';

export type SpanResult = 'sent' | 'failed' | 'dropped';

export function countSpans(metrics: Metrics): (result: SpanResult, number: number) => void {
  const spans = new CounterOnDemand(metrics, {
    name: 'waybell_spans_total',
    help: 'Spans that were made, by what became of them: sent; failed, as the collector did not take them; dropped, as too many waited for it',
    labelNames: ['result'],
  });
  return (result, number) => spans.inc({ result }, number);
}
