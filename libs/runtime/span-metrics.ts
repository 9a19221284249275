import type { Metrics } from './metrics.ts';
import { CounterOnDemand } from './metrics-on-demand.ts';

export type SpanResult = 'sent' | 'failed' | 'dropped';

export function countSpans(metrics: Metrics): (result: SpanResult, number: number) => void {
  const spans = new CounterOnDemand(metrics, {
    name: 'waybell_spans_total',
    help: 'Spans: sent, failed (not taken by the collector), dropped (too many waited)',
    labelNames: ['result'],
  });
  return (result, number) => spans.inc({ result }, number);
}
