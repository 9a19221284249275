import { describe, expect, test } from '@jest/globals';
import { NEWER_FORMAT } from '@waybell/line/messages';
import { formats } from './formats.ts';
import { asOfNow, lastRelease, migrationsHere } from './release.ts';

const release = lastRelease();

/**
 * Formats that differ from the last release's, as they are written now. An entry here asserts: the last release reads this too,
 * and keeps unknown parts where it passes them on. It is emptied when a release is frozen.
 */
const CHANGED: Record<string, string> = {};

describe.each(formats)('$name', ({ name, write, reading, isRandom }) => {
  const frozen = release.written[name];
  if (isRandom !== true) {
    test('is written as the last release wrote it, to the byte, but for what is said to have changed', () => {
      expect(write()).toBe(CHANGED[name] ?? frozen);
    });
  }
  if (CHANGED[name] !== undefined && frozen !== undefined) {
    test('has only grown since the last release', () => {
      expect(hasGrown(frozen, CHANGED[name])).toBe(true);
    });
  }
  if (reading === undefined) return;
  const { read, means, added = [], newer } = reading;
  const texts = [...(frozen === undefined ? [] : [frozen]), write()];

  test('is read as the last release wrote it, and as it is written now', () => {
    for (const text of texts) expect(read(text)).toEqual(means);
  });

  if (added.length > 0) {
    test('is read with what a later version has added', () => {
      for (const text of texts) {
        for (const { as, means: meansThen = means } of added) expect(read(as(text))).toEqual(meansThen);
      }
    });
  }
  if (newer !== undefined) {
    test('is rejected as too new in a later format, and as nothing else', () => {
      for (const text of texts) expect(read(newer(text))).toMatchObject({ kind: 'reject', reason: NEWER_FORMAT });
    });
  }
});

describe('the line', () => {
  const { topology } = asOfNow();

  test.each(release.topology.queues)(
    'has the queue $name of the last release, with the same arguments, bound at least so',
    (queue) => {
      const { arguments: given, bindings = [] } = topology.queues.find(({ name }) => name === queue.name) ?? {};
      expect(given).toEqual(queue.arguments);
      expect(bindings).toEqual(expect.arrayContaining(queue.bindings));
    },
  );

  test.each(release.topology.exchanges)('has the exchange $name of the last release, bound at least so', (exchange) => {
    const { bindings = [], ...as } = topology.exchanges.find(({ name }) => name === exchange.name) ?? {};
    const { bindings: before = [], ...was } = exchange;
    expect(as).toEqual(was);
    expect(bindings).toEqual(expect.arrayContaining(before));
  });
});

test('a migration that was released is as it was', () => {
  expect(migrationsHere()).toMatchObject(release.migrations);
});

/** Words behind those that there were, or members beside them. */
function hasGrown(before: unknown, now: unknown): boolean {
  if (before === now) return true;
  if (typeof before === 'string' && typeof now === 'string') {
    const [a, b] = [parsed(before), parsed(now)];
    return a === undefined || b === undefined ? now.startsWith(`${before} `) : hasGrown(a, b);
  }
  if (typeof before !== 'object' || typeof now !== 'object' || before === null || now === null) return false;
  return Object.entries(before).every(([name, value]) => hasGrown(value, (now as Record<string, unknown>)[name]));
}

function parsed(text: string): object | undefined {
  try {
    const value: unknown = JSON.parse(text);
    return typeof value === 'object' && value !== null ? value : undefined;
  } catch {
    return undefined;
  }
}

describe('a format has only grown', () => {
  const note = '{"note":"1 a b"}';
  test.each([
    ['{"note":"1 a b lane hot"}', true],
    ['{"note":"1 a b","lane":"hot"}', true],
    ['{"note":"1 a"}', false],
    ['{"note":"2 a b"}', false],
    ['{"lane":"hot"}', false],
  ])('where it is %s now: %p', (now, isSo) => {
    expect(hasGrown(note, now)).toBe(isSo);
  });
});
