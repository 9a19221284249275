import { gaugeOnDemand, type Metrics } from './metrics.ts';

/** Whether the process works, and if not, what it waits for: what `/readyz` says, as figures. */
export function watchReadiness(waitingFor: () => string[], metrics: Metrics): void {
  gaugeOnDemand(metrics, { name: 'waybell_ready', help: '1 while the process works, 0 while it waits' }, () => [
    { value: waitingFor().length === 0 ? 1 : 0 },
  ]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_waiting_for',
      help: '1 for each thing the process waits for: a server, a queue, confirms, a key',
      labelNames: ['dependency'],
    },
    () => waitingFor().map((dependency) => ({ labels: { dependency }, value: 1 })),
  );
}
