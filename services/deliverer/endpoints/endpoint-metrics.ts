import { Counter } from 'prom-client';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Endpoints } from './endpoints.ts';

/** Metrics of endpoints, read when scraped. Not by endpoint: there may be any number. */
export function watchEndpoints(endpoints: Pick<Endpoints, 'figures'>, metrics: Metrics): void {
  const gauge = (name: string, help: string, value: () => number) =>
    gaugeOnDemand(metrics, { name, help }, () => [{ value: value() }]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_endpoint_slots_used',
      help: 'Requests under way, by trust when they began: quick, slow, hung, new',
      labelNames: ['trust'],
    },
    () => Object.entries(endpoints.figures().slots).map(([trust, value]) => ({ labels: { trust }, value })),
  );
  gauge(
    'waybell_endpoint_in_hand',
    'Deliveries in hand that wait for their endpoint',
    () => endpoints.figures().inHand,
  );
  gauge('waybell_endpoint_known', 'Endpoints that are remembered', () => endpoints.figures().endpoints);
  gauge('waybell_endpoint_hung', 'Endpoints that hang', () => endpoints.figures().hung);
  metrics.registerMetric(
    new Counter({
      name: 'waybell_endpoint_full_total',
      help: 'Deliveries without room at their endpoint, by why',
      labelNames: ['why'],
      registers: [],
      collect() {
        this.reset();
        for (const [why, times] of Object.entries(endpoints.figures().full)) this.inc({ why }, times);
      },
    }),
  );
}
