import { execFileSync } from 'node:child_process';
import { describe, expect, test } from '@jest/globals';
import { exportLines } from './env.ts';

const VALUES = {
  HOME_OF_IT: `/tmp/ann's "own" $HOME/\`id\`/$(id)\\`,
  URLS: 'http://127.0.0.1:1/metrics#a,http://127.0.0.1:2/metrics#b',
  NOTHING: '',
};

const isThere = (shell: string): boolean => {
  try {
    execFileSync(shell, ['-c', ':']);
    return true;
  } catch {
    return false;
  }
};

describe('what env prints', () => {
  test.each(['sh', 'bash', 'zsh', 'dash'].filter(isThere))('is read by %s to the letter, and handed down', (shell) => {
    const script = `eval "$(cat)"; exec "$0" -p 'JSON.stringify(process.env)'`;
    const output = execFileSync(shell, ['-c', script, process.execPath], { input: exportLines(VALUES).join('\n') });
    expect(JSON.parse(output.toString())).toMatchObject(VALUES);
  });
});
