import { describe, expect, test } from '@jest/globals';
import type { Attempted } from '@waybell/line/outcomes';
import { heading, outcomeRow } from './demo-table.ts';

const facts = {
  delivery: 'd',
  subscription: 's',
  generation: 1,
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  attempt: 2,
  at: Date.parse('2026-11-20T09:30:00.123Z'),
} as const;
const beganAt = facts.at;
const plain = { isColoured: false };
const cells = (outcome: Attempted) => outcomeRow(outcome, 'flaky', plain).split(/ {2,}/);

describe('outcomeRow', () => {
  test.each<[string, Attempted, string[]]>([
    [
      'a delivery',
      { ...facts, kind: 'delivered', beganAt, answer: { status: 204, durationMs: 3.4 } },
      ['204', '3', 'none: delivered'],
    ],
    [
      'a failure and the delay of the next attempt',
      { ...facts, kind: 'failed', beganAt, retryAt: facts.at + 1_998, answer: { status: 500, durationMs: 4 } },
      ['500', '4', 'in 2s'],
    ],
    [
      'the reason where there was no status',
      { ...facts, kind: 'failed', beganAt, retryAt: facts.at + 60_000, answer: { reason: 'dns', durationMs: 4 } },
      ['dns', '4', 'in 1m'],
    ],
    [
      'the last failure',
      { ...facts, kind: 'exhausted', beganAt, body: '', answer: { status: 503, durationMs: 4 } },
      ['503', '4', 'none: given up'],
    ],
    [
      'what was not attempted',
      { ...facts, kind: 'dropped', reason: 'unsubscribed' },
      ['no attempt', 'none: unsubscribed'],
    ],
  ])('shows %s', (_what, outcome, shown) => {
    expect(cells(outcome)).toEqual(['09:30:00.123', 'carrier order.created', 'flaky', '2', ...shown]);
  });

  test('has colours only where they are shown', () => {
    const outcome: Attempted = { ...facts, kind: 'dropped', reason: 'unsubscribed' };
    const escape = String.fromCharCode(27);
    expect([heading({ isColoured: true }), outcomeRow(outcome, 'dead', { isColoured: true })].join('')).toContain(
      escape,
    );
    expect([heading(plain), outcomeRow(outcome, 'dead', plain)].join('')).not.toContain(escape);
  });

  test('stands under its heading', () => {
    const row = outcomeRow({ ...facts, kind: 'dropped', reason: 'deactivated' }, 'dead', plain);
    expect(row.indexOf('none:')).toBe(heading(plain).indexOf('next attempt'));
  });
});
