import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { contrast, GROUNDS, readableAccent } from './readable-accent.ts';

const css = join(import.meta.dirname, '../../../../apps/console/src/style/base.css');
const aColour = fc.integer({ min: 0, max: 0xff_ff_ff }).map((value) => `#${value.toString(16).padStart(6, '0')}`);

describe('readableAccent', () => {
  test('can be read on each ground of either scheme, whatever the colour', () => {
    fc.assert(
      fc.property(aColour, (hex) => {
        const accent = readableAccent(hex);
        for (const scheme of ['light', 'dark'] as const)
          for (const ground of GROUNDS[scheme]) expect(contrast(accent[scheme], ground)).toBeGreaterThanOrEqual(4.5);
      }),
    );
  });

  test('is the colour itself where that can be read', () => {
    expect(readableAccent('#1d4ed8').light).toBe('#1d4ed8');
    expect(readableAccent('#8ab4ff').dark).toBe('#8ab4ff');
  });

  test.each([
    ['#ffff00', /^#[0-9a-f]{2}[0-9a-f]{2}00$/, /^#ffff00$/],
    ['#000000', /^#000000$/, /^#([0-9a-f]{2})\1\1$/],
  ])('keeps the hue of %s', (hex, light, dark) => {
    const accent = readableAccent(hex);
    expect(accent.light).toMatch(light);
    expect(accent.dark).toMatch(dark);
  });

  test('knows the grounds that the page has', async () => {
    const text = await readFile(css, 'utf8');
    const schemes = ['ground', 'surface', 'raised'].map(
      (name) => new RegExp(String.raw`--${name}: light-dark\((#\w{6}), (#\w{6})\);`).exec(text) ?? [],
    );
    expect(schemes.map(([, light]) => light)).toEqual(GROUNDS.light);
    expect(schemes.map(([, , dark]) => dark)).toEqual(GROUNDS.dark);
  });
});

describe('contrast', () => {
  test.each([
    ['#000000', '#ffffff', 21],
    ['#777777', '#ffffff', 4.48],
    ['#ffffff', '#ffffff', 1],
  ])('of %s and %s is %d', (one, other, wanted) => {
    expect(contrast(one, other)).toBeCloseTo(wanted, 2);
  });
});
