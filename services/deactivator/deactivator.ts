import type { DeliveryEnd } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import type { Service } from '@waybell/line/service';
import { announceDeactivations } from './announce-deactivations.ts';
import type { Config } from './config.ts';
import { deactivateStep } from './deactivate-step.ts';
import { deactivationsIn } from './deactivations.ts';
import { noteEndsIn } from './note-ends.ts';
import { startSweep } from './sweep.ts';
import { switchOffIn } from './switch-off.ts';

export type Deactivator = {
  step: Step<DeliveryEnd[]>;
  /** Publishes deactivations to the delivery log at each interval. */
  announce(): AsyncDisposable;
  /** Applies the rules at each interval. */
  sweep(): AsyncDisposable;
};

export function openDeactivator(service: Service<Config>): Deactivator {
  const { config, postgres, log, metrics } = service;
  const { rules, claimMs, sweepIntervalMs: intervalMs } = config;
  const deactivations = deactivationsIn(postgres, { claimMs, onTold: announceDeactivations({ log, metrics }) });
  return {
    step: deactivateStep({ noteEnds: noteEndsIn(postgres, rules), config }),
    announce: () =>
      service.publishRepeatedly('deactivations', deactivations, { intervalMs, complaint: 'telling.failed' }),
    sweep: () => startSweep({ switchOff: switchOffIn(postgres, rules), intervalMs, log, metrics }),
  };
}
