import { actionKey, actions, reports } from '@waybell/catalog/actions';
import type { Schedule } from './schedule.ts';
import { topology, type Topology } from './topology.ts';

/** The topology of all actions of the catalog, with the retry queues that the schedule needs. */
export function lineTopology(options: { schedule: Schedule; eventsLimitBytes: number; quorumSize: number }): Topology {
  const delaysMs = new Map(
    actions.map((action) => [actionKey(action), [...new Set(options.schedule[action.interface])]]),
  );
  return topology({
    actionKeys: [...delaysMs.keys()],
    locationKeys: reports.map(actionKey),
    retryDelaysMs: (key) => delaysMs.get(key) ?? [],
    eventsLimitBytes: options.eventsLimitBytes,
    quorumSize: options.quorumSize,
  });
}
