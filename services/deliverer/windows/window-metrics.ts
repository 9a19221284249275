import { Counter } from 'prom-client';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Windows } from './windows.ts';

/** The windows' figures, asked when somebody looks. Never by origin: there may be any number of them. */
export function watchWindows(windows: Pick<Windows, 'figures' | 'countFull'>, metrics: Metrics): void {
  const gauge = (name: string, help: string, value: () => number) =>
    gaugeOnDemand(metrics, { name, help }, () => [{ value: value() }]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_window_slots_used',
      help: 'Requests under way, by how the last one to their origin had gone when they began: quick, slow, hung, new',
      labelNames: ['trust'],
    },
    () => Object.entries(windows.figures().slots).map(([trust, value]) => ({ labels: { trust }, value })),
  );
  gauge('waybell_window_in_hand', 'Deliveries that wait in hand for a slot', () => windows.figures().inHand);
  gauge('waybell_window_origins', 'Origins whose ways are remembered', () => windows.figures().origins);
  gauge('waybell_window_origins_full', 'Origins with deliveries put aside and no room since', () =>
    windows.countFull(),
  );
  metrics.registerMetric(
    new Counter({
      name: 'waybell_put_aside_total',
      help: 'Deliveries put aside unattempted, by waiting lane; each look in vain at one counts again',
      labelNames: ['lane'],
      registers: [],
      collect() {
        this.reset();
        for (const [lane, times] of Object.entries(windows.figures().aside)) this.inc({ lane }, times);
      },
    }),
  );
}
