import { unknownMembersMetric } from '@waybell/events/unknown-members-metric';
import type { ClaimedRows } from '@waybell/line/outbox/claimed-rows';
import type { PublishingClaimed } from '@waybell/line/outbox/publish-claimed';
import type { RunningStep, Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { reportRejectedEvent } from '@waybell/rejected/reject-event';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { activitiesIn } from './activities.ts';
import type { Config } from './config.ts';
import { findAddressWith } from './find-address.ts';
import { rememberedVehiclesIn } from './remembered-vehicles.ts';
import type { LocationReport } from './report.ts';
import { seeTogether } from './see-together.ts';
import { deactivationsIn, type Deactivation, sweepBeside, type SweepResult } from './sweep.ts';
import { trackStep } from './track-location.ts';
import { TrackerMetrics } from './tracker-metrics.ts';

type LocationTracker = {
  step: Step<LocationReport>;
  /** Silent vehicles to be announced. */
  silentVehicles: ClaimedRows<Deactivation>;
  /** Looks for silent vehicles at each interval, while the step has read all reports. */
  sweepBeside(tracking: RunningStep, announcing: PublishingClaimed): AsyncDisposable;
};

export function openLocationTracker(service: Service<Config>): LocationTracker {
  const { config, postgres, redis, broker, clocks, log, metrics } = service;
  const { rules, rememberMs, claimMs, intervalMs, eventLimits } = config;
  const now = Date.now;
  const figures = new TrackerMetrics(metrics);
  const remembered = rememberedVehiclesIn(redis, { rememberMs });
  const activities = activitiesIn(postgres);
  // With a wrong clock, reports would be from the future and every vehicle silent.
  const seeReports = clocks.guard(seeTogether({ activities, remembered, rules, now }));
  if (config.geocoder === undefined) log.info({ setting: 'GEOCODER_URL' }, 'geocoder.none');
  const findAddress = findAddressWith(config.geocoder, figures.countAddress);
  const onRead = unknownMembersMetric(metrics);
  const deactivations = deactivationsIn(postgres, { claimMs, onAnnounced: figures.countDeactivation(log) });
  return {
    step: trackStep({ seeReports, findAddress, onRead, onChanges: figures.countChanges, now, config }),
    silentVehicles: { ...deactivations, reportRejection: reportRejectedEvent(eventLimits, now) },
    sweepBeside(tracking, announcing) {
      const sweep = clocks.guard(sweepBeside(tracking, { broker, deactivations, remembered, announcing, config }));
      return startSweeping({ intervalMs, sweep, onSwept: figures.timeSweep, log });
    },
  };
}

type SweepingOptions = {
  /** Runs one sweep. Begins nothing new once the signal is aborted. */
  sweep: (stop: AbortSignal) => Promise<SweepResult>;
  onSwept: (result: SweepResult | 'failed', durationMs: number) => void;
  intervalMs: number;
  log: Log;
};

/**
 * Sweeps at each interval, first after one interval: by then waiting reports are read. The next process announces what the broker
 * has not confirmed at the end.
 */
export function startSweeping({ sweep, onSwept, intervalMs, log }: SweepingOptions): AsyncDisposable {
  const timedSweep = async (stop: AbortSignal) => {
    const beganAt = performance.now();
    let result: SweepResult | 'failed' = 'failed';
    try {
      result = await sweep(stop);
    } finally {
      onSwept(result, performance.now() - beganAt);
    }
  };
  return runEvery(timedSweep, { intervalMs, warning: 'sweep.failed', log });
}
