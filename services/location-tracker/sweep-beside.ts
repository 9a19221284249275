import { systemClock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Broker } from '@waybell/line/broker/connect-broker';
import type { Depth } from '@waybell/line/broker/depth';
import { publishUntilConfirmed } from '@waybell/line/broker/publish-until-confirmed';
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
  config: Pick<Config, 'heldLimit' | 'rules' | 'rememberMs' | 'claimMs'>;
  log: Log;
};

/** A sweep that goes by how the step is doing which reads reports: while that is behind, waits or ends, nobody is silent. */
export function sweepBeside(
  tracking: Pick<RunningStep, 'waitingFor'>,
  { broker, deactivations, remembered, figures, config, log }: SweepBesideOptions,
): (stop: AbortSignal) => Promise<SweepResult> {
  const depth = () => broker.depth([locationsQueue]);
  return (stop) =>
    sweep({
      ...config,
      deactivations,
      remembered,
      now: Date.now,
      onAnnounced: figures.countDeactivation(log),
      isCaughtUp: async () =>
        !stop.aborted && tracking.waitingFor().length === 0 && isAtMost(config.heldLimit.messages, await depth()),
      publish: (publication) => {
        const claimedAt = systemClock.now();
        // Like a message that is held: once its claim has run out, it is somebody else's.
        const isClaimed = () => !stop.aborted && systemClock.now() - claimedAt < config.claimMs;
        return publishUntilConfirmed({ broker, clock: systemClock }, publication, isClaimed);
      },
    });
}

/** Where the broker does not know how many reports wait, a vehicle's own may be among them. */
function isAtMost(limit: number, { messages, isExact }: Depth): boolean {
  return isExact && messages <= limit;
}
