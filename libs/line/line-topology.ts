import { actionKey, actions, reports } from '@waybell/catalog/actions';
import { retryQueue, topology, type Topology } from './topology.ts';
import { durations } from '@waybell/runtime/environment';
import type { InterfaceName } from './outcomes.ts';

/** Returns the topology of all actions of the catalog, with the retry queues that the schedule needs. */
export function lineTopology(options: { schedule: Schedule; eventsLimitBytes: number; quorumSize: number }): Topology {
  const delaysMs = retryDelaysMs(options.schedule);
  return topology({
    actionKeys: [...delaysMs.keys()],
    locationKeys: reports.map(actionKey),
    retryDelaysMs: (key) => delaysMs.get(key) ?? [],
    eventsLimitBytes: options.eventsLimitBytes,
    quorumSize: options.quorumSize,
  });
}

/** Lists the retry queues of these actions. */
export function retryQueues(schedule: Schedule, actionKeys: readonly string[]): string[] {
  const delaysMs = retryDelaysMs(schedule);
  return actionKeys.flatMap((key) => delaysMs.get(key)?.map((delayMs) => retryQueue(key, delayMs)) ?? []);
}

/** Returns the distinct delays of each action, by its key. */
function retryDelaysMs(schedule: Schedule): Map<string, number[]> {
  return new Map(actions.map((action) => [actionKey(action), [...new Set(schedule[action.interface])]]));
}

/**
 * Retry delays (shipper-webhooks and carrier-webhooks, Limits). Read by the command that declares the retry queues and by the
 * deliverer, which fills them.
 */
export const scheduleSettings = {
  SHIPPER_RETRY_DELAYS: durations({
    default: [60_000, 60_000, 60_000, 60_000, 60_000],
    desc: 'delays before the 1st, 2nd, … retry of a shipper notification',
  }),
  CARRIER_RETRY_DELAYS: durations({
    default: [1_000, 2_000, 4_000],
    desc: 'delays before the 1st, 2nd, … retry of a carrier notification',
  }),
};

export type Schedule = Record<InterfaceName, readonly number[]>;

export function readSchedule(settings: { SHIPPER_RETRY_DELAYS: number[]; CARRIER_RETRY_DELAYS: number[] }): Schedule {
  return { shipper: settings.SHIPPER_RETRY_DELAYS, carrier: settings.CARRIER_RETRY_DELAYS };
}

/**
 * Returns the keys of the actions that `patterns` match: `*`, `shipper.*`, `carrier.order.created`. Throws, naming the pattern,
 * if one matches none.
 */
export function selectActions(patterns: readonly string[]): string[] {
  const keys = actions.map(actionKey);
  const selected = patterns.flatMap((pattern) => {
    const matching = keys.filter((key) =>
      pattern.endsWith('*') ? key.startsWith(pattern.slice(0, -1)) : key === pattern,
    );
    if (matching.length === 0)
      throw new Error(`no action matches "${pattern}": write *, shipper.*, or carrier.order.created`);
    return matching;
  });
  return [...new Set(selected)];
}
