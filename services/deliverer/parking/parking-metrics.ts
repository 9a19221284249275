import { Counter } from 'prom-client';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Flow } from './flow.ts';

/** Metrics of what is parked, as this process sees it, read when scraped. Not by endpoint: there may be any number. */
export function watchParking(flow: Pick<Flow, 'figures' | 'timesParked'>, metrics: Metrics): void {
  const gauge = (name: string, help: string, value: () => number) =>
    gaugeOnDemand(metrics, { name, help }, () => [{ value: value() }]);
  gauge(
    'waybell_deliverers',
    'Deliverers that take some of the actions of this one, itself included: they divide the limits of endpoints',
    () => flow.figures().deliverers,
  );
  gauge(
    'waybell_parked_deliveries',
    'Deliveries that wait for their endpoint in Postgres, of all accounts',
    () => flow.figures().all.rows,
  );
  gauge('waybell_parked_bytes', 'Total size of the parked deliveries of all accounts', () => flow.figures().all.bytes);
  gauge(
    'waybell_parked_oldest_seconds',
    'Time since the routing of the oldest delivery parked for an endpoint that this process owns',
    () => flow.figures().oldestMs / 1_000,
  );
  gauge(
    'waybell_parked_with_room_seconds',
    'How long an endpoint that has room has waited for what is parked for it, at most',
    () => flow.figures().withRoomMs / 1_000,
  );
  gauge(
    'waybell_parking_away',
    '1 while what is to be parked goes to the waiting queue: Postgres does not take it',
    () => (flow.figures().isAway ? 1 : 0),
  );
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_parked_endpoints',
      help: 'Endpoints with parked deliveries that this process owns',
      labelNames: ['state'],
    },
    () => (['hung', 'waiting'] as const).map((state) => ({ labels: { state }, value: flow.figures()[state] })),
  );
  const counter = (
    name: string,
    help: string,
    read: () => [Record<string, string>, number][],
    labelNames: string[] = [],
  ) =>
    metrics.registerMetric(
      new Counter({
        name,
        help,
        labelNames,
        registers: [],
        collect() {
          this.reset();
          for (const [labels, times] of read()) this.inc(labels, times);
        },
      }),
    );
  const parked = () =>
    Object.entries(flow.timesParked).map(([why, times]): [Record<string, string>, number] => [{ why }, times]);
  counter(
    'waybell_parked_total',
    'Deliveries parked: their endpoint had no room (full), hangs (hung), says too much (busy), or our own network has no way out (egress)',
    parked,
    ['why'],
  );
  counter('waybell_unparked_total', 'Parked deliveries taken, to be attempted or ended', () => [
    [{}, flow.figures().taken],
  ]);
}
