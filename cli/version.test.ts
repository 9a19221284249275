import { execFileSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { versionHere } from './version.ts';

const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' }).trim();

test('--version prints what package.json says, and the commit of a checkout', () => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string };
  const printed = run(process.execPath, join(repository, 'cli', 'main.ts'), '--version');
  expect(printed).toBe(versionHere());
  expect(printed.startsWith(version)).toBe(true);
  expect(printed.slice(version.length)).toMatch(/^( \([0-9a-f]{7,40}\))?$/);
});
