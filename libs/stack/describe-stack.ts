import type { StackFolder } from './stack-folder.ts';
import { requireRunning } from './stack-state.ts';

/** The addresses of the running stack and what to try first. */
export function describeStack(folder: StackFolder): string {
  const { addresses } = requireRunning(folder);
  return [
    '',
    'Waybell is up.',
    ...Object.entries(addresses).map(
      ([name, value]) => `  ${name.padEnd(14)}${value.split(',').join(`\n${' '.repeat(16)}`)}`,
    ),
    '',
    `  ${addresses['API_URL']}/console/    what happened and why, as a page: for clients`,
    `  ${addresses['ADMIN_URL']}/console/    the same for operators`,
    `  ${addresses['API_URL']}/docs        the REST interface, as a page`,
    '',
    '  ./waybell status    what runs, and what waits in the queues',
    '  ./waybell logs -f   what the services say',
    '  ./waybell down      stop it',
    '',
  ].join('\n');
}
