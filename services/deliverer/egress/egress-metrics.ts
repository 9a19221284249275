import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import type { Egress } from './egress.ts';

export function watchEgress(egress: Pick<Egress, 'isSuspected'>, metrics: Metrics): void {
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_egress_suspected',
      help: '1 while most receivers cannot be connected to',
    },
    () => [{ value: egress.isSuspected ? 1 : 0 }],
  );
}
