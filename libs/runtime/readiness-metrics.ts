import { gaugeOnDemand, type Metrics } from './metrics.ts';

/** Without what is said of it, as of a clock or a policy: times would make ever new series. */
const nameOf = (waited: string): string => /^([^:(]+): /.exec(waited)?.[1] ?? waited;

/** Whether the process works, and if not, what it waits for: what `/readyz` says, as figures. */
export function watchReadiness(waitingFor: () => string[], metrics: Metrics): void {
  gaugeOnDemand(metrics, { name: 'waybell_ready', help: '1 while the process works, 0 while it waits' }, () => [
    { value: waitingFor().length === 0 ? 1 : 0 },
  ]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_waiting_for',
      help: '1 for each thing the process waits for: a server, a queue, confirms, a key, a clock, a policy',
      labelNames: ['dependency'],
    },
    () => [...new Set(waitingFor().map(nameOf))].map((dependency) => ({ labels: { dependency }, value: 1 })),
  );
}
