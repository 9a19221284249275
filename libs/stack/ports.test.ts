import { chmodSync, mkdirSync, symlinkSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { isOurs } from './ports.ts';
import { sharedFolder } from '@waybell/runtime/testing/shared';

const home = sharedFolder('ours');

const places: [what: string, lay: (path: string) => void][] = [
  ['a link to a folder', (path) => symlinkSync(home, path)],
  ['a link to nothing', (path) => symlinkSync(join(home, 'nothing'), path)],
  ['a folder that others may write', (path) => (mkdirSync(path), chmodSync(path, 0o1777))],
  ['a folder that others may read', (path) => mkdirSync(path, { mode: 0o755 })],
  ['a file', (path) => writeFileSync(path, '')],
];

describe('a folder of our own', () => {
  test('is one that is made, and is there the next time', () => {
    const path = join(home, 'ports');
    expect([isOurs(path), isOurs(path)]).toEqual([true, true]);
  });

  test.each(places)('is not %s', (what, lay) => {
    const path = join(home, what);
    lay(path);
    expect(isOurs(path)).toBe(false);
  });
});
