import type { Broker, Depth } from '@waybell/line/broker';
import type { PublishingClaimed } from '@waybell/line/claimed/publish-claimed';
import type { RunningStep } from '@waybell/line/run-step';
import { locationsQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import type { Deactivations } from './deactivations.ts';
import type { RememberedVehicles } from './remembered-vehicles.ts';
import { sweep, type SweepResult } from './sweep.ts';

export type SweepBesideOptions = {
  broker: Pick<Broker, 'depth'>;
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  announcing: Pick<PublishingClaimed, 'publishDue'>;
  config: Pick<Config, 'inHandLimit' | 'rules' | 'rememberMs'>;
};

/** Sweeps depending on the step that reads reports: while that is behind, waits or ends, no vehicle counts as silent. */
export function sweepBeside(
  tracking: Pick<RunningStep, 'waitingFor'>,
  { broker, deactivations, remembered, announcing, config }: SweepBesideOptions,
): (stop: AbortSignal) => Promise<SweepResult> {
  const depth = () => broker.depth([locationsQueue]);
  return (stop) =>
    sweep({
      ...config,
      deactivations,
      remembered,
      now: Date.now,
      isCaughtUp: async () =>
        !stop.aborted && tracking.waitingFor().length === 0 && isAtMost(config.inHandLimit.messages, await depth()),
      announce: () => announcing.publishDue(),
    });
}

/** If the broker does not know how many reports wait, a vehicle's own may be among them. */
function isAtMost(limit: number, { messages, isExact }: Depth): boolean {
  return isExact && messages <= limit;
}
