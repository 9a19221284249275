import type { DeliveryEnd } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import type { Config } from './config.ts';
import { deactivateStep, endGoneIn, noteEndsIn } from './deactivate.ts';
import { announceDeactivations, deactivationsIn } from './deactivations.ts';
import { noticesIn, startTroubleNotices, startCertificateNotices } from './notices.ts';
import { startSweep, switchOffIn } from './switch-off.ts';

/** Reading each room costs a tenth of a second if there are ten thousand. */
const TROUBLE_EVERY_MS = 10_000;

export type Deactivator = {
  step: Step<DeliveryEnd[]>;
  /** Publishes deactivations to the delivery log, and notices to the platform, at each interval. */
  announce(): AsyncDisposable;
  /** Applies the rules at each interval. */
  sweep(): AsyncDisposable;
};

export function openDeactivator(service: Service<Config>): Deactivator {
  const { config, postgres, log, metrics } = service;
  const { rules, endOnGone, claimMs, sweepIntervalMs: intervalMs } = config;
  const deactivations = deactivationsIn(postgres, { claimMs, onPublished: announceDeactivations({ log, metrics }) });
  const how = { intervalMs: 2 * intervalMs, warning: 'telling.failed' };
  return {
    step: deactivateStep({
      noteEnds: noteEndsIn(postgres, rules),
      endGone: endGoneIn(postgres, { endOnGone, log }),
      config,
    }),
    announce() {
      const announcing = new AsyncDisposableStack();
      announcing.use(service.publishRepeatedly('deactivations', deactivations, how));
      announcing.use(service.publishRepeatedly('notices', noticesIn(postgres, { claimMs }), how));
      announcing.use(startTroubleNotices(postgres, { intervalMs: TROUBLE_EVERY_MS, log }));
      announcing.use(startCertificateNotices(postgres, { intervalMs: TROUBLE_EVERY_MS, log, metrics }));
      return announcing;
    },
    sweep: () => startSweep({ switchOff: switchOffIn(postgres, rules), intervalMs, log, metrics }),
  };
}
