import { anEvent, type PublishedEvent } from '../../testing/event.ts';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { stack } from '../stand.ts';

/** Runs `waybell` with those words against the stack of these tests. */
export const waybell = (args: string, start: Parameters<typeof runWaybell>[2] = {}) =>
  runWaybell(stack, args.split(' '), start);

/** The input of `publish`. */
export const lines = (...events: unknown[]) => events.map((event) => `${JSON.stringify(event)}\n`).join('');

export const created = (account: string): PublishedEvent =>
  anEvent({ interface: 'carrier', action: 'order.created', parties: { carrier: account } });
