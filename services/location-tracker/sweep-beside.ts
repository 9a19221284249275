import type { Log } from '@waybell/runtime/log';
import type { Broker } from '@waybell/line/broker/connect-broker';
import { publishUntilConfirmed } from '@waybell/line/publish-until-confirmed';
import type { RunningStep } from '@waybell/line/run-step';
import { locationsQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import type { Deactivations } from './deactivations.ts';
import type { RememberedVehicles } from './remembered-vehicles.ts';
import { sweep, type SweepResult } from './sweep.ts';
import type { TrackerMetrics } from './tracker-metrics.ts';

export type SweepBesideOptions = {
  broker: Pick<Broker, 'publish' | 'depth'>;
  deactivations: Deactivations;
  remembered: RememberedVehicles;
  figures: TrackerMetrics;
  config: Pick<Config, 'hold' | 'rules' | 'rememberMs' | 'claimMs'>;
  log: Log;
};

/** A sweep that goes by how the step is doing which reads reports: while that is behind, waits or ends, nobody is silent. */
export function sweepBeside(
  tracking: Pick<RunningStep, 'waitingFor'>,
  { broker, deactivations, remembered, figures, config, log }: SweepBesideOptions,
): (stop: AbortSignal) => Promise<SweepResult> {
  return (stop) =>
    sweep({
      ...config,
      deactivations,
      remembered,
      now: Date.now,
      onAnnounced: figures.countDeactivation(log),
      isCaughtUp: async () =>
        !stop.aborted &&
        tracking.waitingFor().length === 0 &&
        (await broker.depth([locationsQueue])) <= config.hold.messages,
      publish: (publication) => {
        const claimedAt = performance.now();
        // Like a message that is held: once its claim has run out, it is somebody else's.
        const isClaimed = () => !stop.aborted && performance.now() - claimedAt < config.claimMs;
        return publishUntilConfirmed(broker, publication, isClaimed);
      },
    });
}
