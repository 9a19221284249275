import { execFileSync } from 'node:child_process';
import { existsSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';

const run = (command: string, ...args: string[]) => execFileSync(command, args, { encoding: 'utf8' }).trim();

test('--version prints what package.json says, and the commit of a checkout', () => {
  const { version } = JSON.parse(readFileSync(join(repository, 'package.json'), 'utf8')) as { version: string };
  const isCheckout = existsSync(join(repository, '.git'));
  const commit = isCheckout ? ` (${run('git', '-C', repository, 'rev-parse', '--short', 'HEAD')})` : '';
  expect(run(process.execPath, join(repository, 'cli', 'main.ts'), '--version')).toBe(`${version}${commit}`);
});
