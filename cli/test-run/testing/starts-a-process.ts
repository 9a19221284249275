import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { SupervisedProcess } from '@waybell/stack/supervised-process';

/** A test that starts a process and never comes to its end: run-jest.test.ts interrupts it. */
test('a process runs', async () => {
  const folder = process.env['STARTED_FOLDER'] ?? '';
  const sleeper = new SupervisedProcess(
    {
      name: 'sleeper',
      role: 'server',
      command: 'sleep',
      args: ['600'],
      env: process.env,
      cwd: folder,
      logFile: join(folder, 'log'),
      address: 'nowhere',
      waitsFor: async () => undefined,
      readyMs: 60_000,
      graceMs: 90_000,
    },
    { restart: 'never', onEvent: () => undefined },
  );
  await sleeper.start();
  writeFileSync(join(folder, 'started'), '');
  await until('the run is interrupted', () => false);
});
