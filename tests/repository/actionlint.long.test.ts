import { execFile } from 'node:child_process';
import { promisify } from 'node:util';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { goProgram } from '../testing/go-program.ts';

test('actionlint finds nothing wrong with the workflows', async () => {
  const actionlint = await goProgram('github.com/rhysd/actionlint/cmd/actionlint@v1.7.12');
  // Finds the workflows of the folder by itself, and fails where there are none.
  const { stdout } = await promisify(execFile)(actionlint, ['-shellcheck=', '-pyflakes='], { cwd: repository });
  expect(stdout).toBe('');
});
