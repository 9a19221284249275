import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { edited } from './other-sources.ts';
import { addsToAll } from './tomorrow.ts';

describe('what a later version may write', () => {
  test('is still a change of the code as it is', () => {
    const sources = new Map<string, string>();
    for (const edit of addsToAll) {
      const source = sources.get(edit.file) ?? readFileSync(join(repository, edit.file), 'utf8');
      sources.set(edit.file, edited(source, edit));
    }
    expect(sources.size).toBeGreaterThan(0);
  });
});
