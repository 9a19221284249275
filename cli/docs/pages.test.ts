import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { pages } from './pages.ts';

describe('pages', () => {
  test.each(Object.entries(pages))('%s says what the code says: ./waybell docs', async (path, page) => {
    expect(await readFile(join(import.meta.dirname, '../..', path), 'utf8')).toBe(page());
  });
});
