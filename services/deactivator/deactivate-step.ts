import type { Outcome } from '@waybell/line/outcomes';
import { readBatch } from '@waybell/line/outcome-batch';
import type { Step } from '@waybell/line/run-step';
import { deactivatorQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import { deactivate, type DeactivateOptions } from './deactivate.ts';

/** The deactivator's place on the line. What it does twice changes nothing, so it remembers nothing. */
export function deactivateStep({ config, ...options }: DeactivateOptions & { config: Config }): Step<Outcome[]> {
  return {
    name: 'deactivator',
    queues: [deactivatorQueue],
    heldLimit: config.heldLimit,
    parse: readBatch,
    handle: deactivate(options),
    describe: (outcomes) => ({ outcomes: outcomes.length }),
  };
}
