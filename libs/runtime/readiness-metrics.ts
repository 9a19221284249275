import { gaugeOnDemand, type Metrics } from './metrics.ts';

/** Removes details, as of a clock or a policy: times in labels would make ever new series. */
const partNameOf = (waited: string): string => /^([^:(]+): /.exec(waited)?.[1] ?? waited;

/** Registers the answer of `/readyz` as metrics. */
export function watchReadiness(waitingFor: () => string[], metrics: Metrics): void {
  gaugeOnDemand(metrics, { name: 'waybell_ready', help: '1 while the process works, 0 while it waits' }, () => [
    { value: waitingFor().length === 0 ? 1 : 0 },
  ]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_waiting_for',
      help: '1 for each thing that the process waits for',
      labelNames: ['dependency'],
    },
    () => [...new Set(waitingFor().map(partNameOf))].map((dependency) => ({ labels: { dependency }, value: 1 })),
  );
}
