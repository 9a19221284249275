import { describe, expect, test } from '@jest/globals';
import { contextOf, isTraceparent, sampledTraceId, traceIdOf } from './traceparent.ts';

const TRACE = '0af7651916cd43dd8448eb211c80319c';
const SAMPLED = `00-${TRACE}-b7ad6b7169203331-01`;

describe('a traceparent', () => {
  test.each([SAMPLED, `00-${TRACE}-b7ad6b7169203331-00`, `cc-${TRACE}-b7ad6b7169203331-09`])('is %s', (text) => {
    expect(isTraceparent(text)).toBe(true);
    expect(traceIdOf(text)).toBe(TRACE);
  });

  test.each([
    undefined,
    '',
    SAMPLED.toUpperCase(),
    `${SAMPLED}0`,
    `ff${SAMPLED.slice(2)}`,
    `00-${'0'.repeat(32)}-b7ad6b7169203331-01`,
    `00-${TRACE}-${'0'.repeat(16)}-01`,
  ])('is not %s', (text) => {
    expect([isTraceparent(text), traceIdOf(text), sampledTraceId(text), contextOf(text)]).toEqual([
      false,
      undefined,
      undefined,
      undefined,
    ]);
  });

  test('names a trace to look up only where that is sampled', () => {
    expect(sampledTraceId(SAMPLED)).toBe(TRACE);
    expect(sampledTraceId(SAMPLED.replace(/1$/, '3'))).toBe(TRACE);
    expect(sampledTraceId(SAMPLED.replace(/1$/, '0'))).toBeUndefined();
  });
});
