import { describe, expect, test } from '@jest/globals';
import { formatJson, isMet } from './report.ts';

describe('isMet', () => {
  const what = 'a promise';

  test('holds the median of the rounds against the bar, the bar itself included', () => {
    expect(isMet({ what, figure: { median: 0.75, min: 0.5, max: 1 }, bar: { atLeast: 0.75 } })).toBe(true);
    expect(isMet({ what, figure: { median: 0.74, min: 0.5, max: 1 }, bar: { atLeast: 0.75 } })).toBe(false);
    expect(isMet({ what, figure: 2, bar: { atMost: 2 } })).toBe(true);
    expect(isMet({ what, figure: 2.1, bar: { atMost: 2 } })).toBe(false);
  });

  test('counts what was not measured as missed', () => {
    expect(isMet({ what, figure: Number.NaN, bar: { atMost: 2 } })).toBe(false);
    expect(isMet({ what, figure: Number.NaN, bar: { atLeast: 0 } })).toBe(false);
  });
});

describe('formatJson', () => {
  test('keeps what every round gave, be it no number or infinite', () => {
    const rounds = { waybell: [1.5, Number.NaN, Infinity] };
    const scenario = { name: 'F9', workload: 'none', settings: {}, rounds, tables: [], checks: [] };
    const machine = { cpu: 'some', cores: 1, memoryGib: 1, kernel: 'Linux' };
    const versions = { node: '1', rabbitmq: '2', postgres: '3', redis: '4', waybell: '5' };
    const json = formatJson({ beganAt: 'now', isQuick: true, machine, versions, scenarios: [scenario] });
    expect(JSON.parse(json)).toMatchObject({ scenarios: [{ rounds: { waybell: [1.5, 'NaN', 'Infinity'] } }] });
  });
});
