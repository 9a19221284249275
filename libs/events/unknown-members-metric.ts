import { Counter, type Registry } from 'prom-client';
import type { Event } from './event.ts';

/** Series of it, at most: names are upstream's to choose. */
const MOST_SERIES = 200;
const OTHER = 'others';

/** Counts events by each member of theirs that no contract knows, and names it: upstream sends more than clients get. */
export function unknownMembersMetric(metrics: Registry): (event: Event) => void {
  const counter = new Counter({
    name: 'waybell_events_unknown_members_total',
    help: 'Events with a member that the contract does not know, by place',
    labelNames: ['interface', 'member'],
    registers: [metrics],
  });
  const named = new Set<string>();
  return ({ action, unknownMembers }) => {
    for (const place of unknownMembers.places) {
      const series = `${action.interface} ${place}`;
      const isNamed = named.has(series) || named.size < MOST_SERIES;
      if (isNamed) named.add(series);
      counter.inc({ interface: action.interface, member: isNamed ? place : OTHER });
    }
  };
}
