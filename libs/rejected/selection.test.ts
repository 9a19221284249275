import { describe, expect, test } from '@jest/globals';
import { isSelected, readSelection } from './selection.ts';
import { aRejected } from './testing/a-rejected.ts';

describe('readSelection', () => {
  test.each<[string, string[], { reason?: string; all?: true }]>([
    ['nothing', [], {}],
    ['ids and a reason', ['a'], { reason: 'x' }],
    ['a reason and all', [], { reason: 'x', all: true }],
  ])('refuses %s', (_what, ids, options) => {
    expect(() => readSelection(ids, options)).toThrow('say which');
  });
});

describe('isSelected', () => {
  test('takes all, or those of the reason', () => {
    expect(isSelected({ kind: 'all' }, aRejected())).toBe(true);
    expect(isSelected({ kind: 'reason', reason: 'payload_invalid' }, aRejected())).toBe(true);
    expect(isSelected({ kind: 'reason', reason: 'payload' }, aRejected())).toBe(false);
  });

  test.each([
    ['0123456789', true],
    ['ABCDEF-1', true],
    ['012345678', false],
    ['1', false],
  ])('finds by the id or message id "%s": %s', (id, isFound) => {
    expect(isSelected({ kind: 'ids', ids: ['x', id] }, aRejected({ messageId: 'abcdef-1' }))).toBe(isFound);
  });

  test.each([
    ['in its body', { body: Buffer.from('{"number":"4711"}') }],
    ['in the note of a delivery', { note: '1 s 1 4711 1 0 0' }],
  ])('finds what it is about %s', (_where, what) => {
    const about = { kind: 'about', key: '4711' } as const;
    expect([isSelected(about, aRejected(what)), isSelected(about, aRejected())]).toEqual([true, false]);
  });
});
