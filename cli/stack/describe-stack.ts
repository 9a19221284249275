import type { StackFolder } from './stack-folder.ts';
import { requireRunning } from './stack-state.ts';

/** The addresses of the running stack and what to try first. */
export function describeStack(folder: StackFolder): string {
  const { addresses, processes } = requireRunning(folder);
  const api = processes.find(({ name }) => name === 'subscription-api');
  return [
    '',
    'Waybell is up.',
    ...Object.entries(addresses).map(
      ([name, value]) => `  ${name.padEnd(14)}${value.split(',').join(`\n${' '.repeat(16)}`)}`,
    ),
    '',
    `  curl ${api?.health}/readyz`,
    '',
    '  ./waybell status    what runs, and what waits in the queues',
    '  ./waybell logs -f   what the services say',
    '  ./waybell down      stop it',
    '',
  ].join('\n');
}
