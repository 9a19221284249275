import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { programOf } from './prometheus.ts';

test('alerts that no test causes fire by their series, and end', async () => {
  const promtool = await programOf('promtool');
  const { stdout } = await promisify(execFile)(promtool, ['test', 'rules', 'uncaused.yml'], {
    cwd: import.meta.dirname,
  });
  expect(stdout).toContain('SUCCESS');
});
