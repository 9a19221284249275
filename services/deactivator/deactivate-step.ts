import { readEnds } from '@waybell/line/outcome-batch';
import type { DeliveryEnd } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { deactivatorQueue } from '@waybell/line/topology';
import type { Config } from './config.ts';
import { deactivate, type DeactivateOptions } from './deactivate.ts';

/** Messages of up to 100 ends, noted in one statement. */
const LARGEST_BATCH = 20;

/** The deactivator's step. Needs no `once`: noting the same ends twice changes nothing. */
export function deactivateStep({ config, ...options }: DeactivateOptions & { config: Config }): Step<DeliveryEnd[]> {
  return {
    name: 'deactivator',
    queues: [deactivatorQueue],
    inHandLimit: config.inHandLimit,
    parse: readEnds,
    handle: deactivate(options),
    gathering: { largest: LARGEST_BATCH },
    traces: 'of a batch',
    describe: (ends) => ({ ends: ends.length }),
  };
}
