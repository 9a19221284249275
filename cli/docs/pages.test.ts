import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pages } from './pages.ts';

describe('pages', () => {
  test.each(Object.entries(pages))('%s says what the code says: ./waybell docs', async (path, page) => {
    expect(await readFile(join(import.meta.dirname, '../..', path), 'utf8')).toBe(await page());
  });

  test.each(['docs/schemas', 'docs/reference', 'docs/languages'])('are all that %s holds', async (folder) => {
    const names = await readdir(join(import.meta.dirname, '../..', folder));
    expect(names.map((name) => `${folder}/${name}`).filter((path) => !(path in pages))).toEqual([]);
  });
});
