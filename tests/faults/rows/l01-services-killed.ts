import { serviceNames } from '@waybell/stack/services';
import type { Fault } from '../fault.ts';
import { HELD } from '../fault-settings.ts';
import { underLoad } from '../under-load.ts';

/** `kill -9` at a random moment; the supervisor starts it again. */
export const servicesKilled: Fault[] = serviceNames.map((name) => ({
  row: 'L1',
  name: `${name} killed`,
  gates: ['event-router', 'deliverer'].includes(name),
  // Requests that were made and not yet acknowledged are made again, and no others.
  bars: { duplicates: name === 'deliverer' ? HELD : 0, movingAgainSeconds: 10 },
  run: underLoad(({ stack }) => stack.stack.service(name).kill(), { releaseTimes: 20 }),
}));
