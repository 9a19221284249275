import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseDurationMs } from '@waybell/runtime/duration';
import { MALLOC, MEMORY, reachedAt } from './service-process.ts';
import { repository } from './stack-folder.ts';

test.each(['deploy/Dockerfile', 'docs/operating/sizing.md'])(
  '%s gives services the memory that the local stack gives them',
  (file) => {
    const text = readFileSync(join(repository, file), 'utf8');
    for (const flag of MEMORY) expect(text).toContain(flag);
    for (const [name, value] of Object.entries(MALLOC)) expect(text).toContain(`${name}=${value}`);
  },
);

test('docs/operating/processes.md starts a service by hand with the memory that the local stack gives it', () => {
  const text = readFileSync(join(repository, 'docs/operating/processes.md'), 'utf8');
  expect(text).toContain(`node ${MEMORY.join(' ')} services/deliverer/main.ts`);
});

test('docker-compose.yml leaves a process more than its grace time', () => {
  const timeIn = (file: string, pattern: RegExp) =>
    parseDurationMs(pattern.exec(readFileSync(join(repository, file), 'utf8'))?.[1] ?? '');
  const grace = timeIn('docs/settings.md', /`SHUTDOWN_GRACE` \| `(\w+)`/);
  expect(timeIn('docker-compose.yml', /stop_grace_period: (\w+)/)).toBeGreaterThan(grace);
});

test.each([
  [undefined, '127.0.0.1'],
  ['0.0.0.0', '127.0.0.1'],
  ['::', '[::1]'],
  ['fd00::1', '[fd00::1]'],
  ['waybell.test', 'waybell.test'],
])('what listens on %s is reached at %s', (host, expected) => {
  expect(reachedAt(host)).toBe(expected);
});
