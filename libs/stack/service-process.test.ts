import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { parseDurationMs } from '@waybell/runtime/duration';
import { MALLOC, MEMORY, reachedAt, checkSettings } from './service-process.ts';
import { services } from './services.ts';
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

test('what no service and no declaration refuses passes, without an address of any server', async () => {
  const right = { LOG_LEVEL: '', DELIVER_SLOTS: '16', EVENTS_QUEUE_LIMIT: '1MiB' };
  await expect(checkSettings(services, right)).resolves.toBeUndefined();
});

test('what a receiver on this machine allows is taken as the services of the stack take it', async () => {
  await expect(checkSettings(services, { CALLBACK_SOURCE_NETWORKS: '127.0.0.1' })).resolves.toBeUndefined();
});

test('all that is wrong is named at once, each once, whichever service reads it', async () => {
  const wrong = {
    LOG_LEVEL: 'loud',
    DELIVER_SLOTS: '0',
    ROUTE_PAUSE_DEPTH: '100',
    EVENTS_QUEUE_LIMIT: '-1',
    REDIS_URL: 'redis',
  };
  const named = await checkSettings(services, wrong).catch((error: Error) =>
    error.message.match(/^ {2}\w+(?=:| is gone)/gm),
  );
  expect(named?.map((name) => name.trim()).toSorted()).toEqual(Object.keys(wrong).toSorted());
});
