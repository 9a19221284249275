import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { edited } from './other-sources.ts';
import { addsToAll, knowsMore, raisesNumbers } from './tomorrow.ts';

describe('what a later version may write', () => {
  test.each([
    ['adds to all', addsToAll],
    ['raises numbers', raisesNumbers],
    ['knows more', knowsMore],
  ])('is still a change of the code as it is, where it %s', (_what, edits) => {
    const sources = new Map<string, string>();
    for (const edit of edits) {
      const source = sources.get(edit.file) ?? readFileSync(join(repository, edit.file), 'utf8');
      sources.set(edit.file, edited(source, edit));
    }
    expect(sources.size).toBeGreaterThan(0);
  });
});
