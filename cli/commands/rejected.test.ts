import { describe, expect, test } from '@jest/globals';
import { publishOutcomes } from '@waybell/line/outcome-batch';
import type { Dropped } from '@waybell/line/outcomes';
import { factsOf } from '@waybell/rejected/rejected-messages';
import { aRejected } from '@waybell/rejected/testing/a-rejected';
import { describeShortly, describeWholly } from './rejected.ts';

const aDropped = (): Dropped => ({
  kind: 'dropped',
  reason: 'unsubscribed',
  delivery: 'd',
  subscription: 's',
  generation: 3,
  event: 'e',
  interface: 'carrier',
  action: 'order.created',
  attempt: 1,
  at: 2,
  body: '{"sent":1}',
});

describe('describeShortly', () => {
  test('says why it lies there, whence it came and how big it is', () => {
    expect(describeShortly(factsOf(aRejected({ messageId: 'm-1' })))).toEqual([
      '0123456789  2026-11-20T09:30:00.123Z  payload_invalid  waybell.events.router ← waybell.events ' +
        '"carrier.order.created"  m-1  2 B',
      '      /payload/id: must be integer',
    ]);
  });
});

describe('whence it came', () => {
  test.each([
    [{}, 'waybell.events.router ← waybell.events "carrier.order.created"'],
    [
      { exchange: '', routingKey: 'waybell.events.router' },
      'waybell.events.router ← default exchange "waybell.events.router"',
    ],
    [{ exchange: '', routingKey: 'k' }, 'waybell.events.router ← unknown exchange "k"'],
    [{ queue: '', exchange: '', routingKey: '' }, 'unknown queue ← unknown exchange ""'],
  ])('%j is %s', (what, told) => {
    expect(describeShortly(factsOf(aRejected({ ...what, detail: '' })))).toEqual([
      `0123456789  2026-11-20T09:30:00.123Z  payload_invalid  ${told}  no message id  2 B`,
    ]);
  });
});

describe('describeWholly', () => {
  const bodyOf = (what: Parameters<typeof aRejected>[0]) => describeWholly(aRejected(what)).split('\n\n').at(-1);

  test('ends with the body', () => {
    expect(bodyOf({ body: Buffer.from('{\n\t"ü": 1}') })).toBe('{\n\t"ü": 1}');
  });

  test('begins with the facts, by their names', () => {
    const { body: _, delivery: __, ...facts } = aRejected();
    const [told] = describeWholly(aRejected({ messageId: 'm', note: 'n', contentType: 'c' })).split('\n\n');
    expect(told?.split('\n')).toEqual(
      Object.entries({ ...facts, messageId: 'm', contentType: 'c', size: '2', correlationId: 'n' }).map(
        ([name, value]) => name.padEnd(16) + value,
      ),
    );
  });

  test('shows a batch of records as it was before it was compressed', () => {
    const { body, contentEncoding = '' } = publishOutcomes(Array.from({ length: 50 }, aDropped));
    expect(contentEncoding).toBe('zstd');
    expect(bodyOf({ body, contentEncoding })).toMatch(/^\{"version":\d,.*\n\{"sent":1\}/);
    expect(bodyOf({ body: body.subarray(0, 50), contentEncoding })).toContain('--raw');
  });

  test.each([
    ['compressed', { body: Buffer.from('x'), contentEncoding: 'gzip' }],
    ['not UTF-8', { body: Buffer.from([0xff]) }],
  ])('points to --raw where the body is %s', (_what, rejected) => {
    expect(bodyOf(rejected)).toContain('--raw');
  });

  test('lets no body steer the terminal, and nothing beside it add a line', () => {
    const body = Buffer.from('one\ntwo \u001b[2J\u202e');
    const shown = describeWholly(aRejected({ body, messageId: 'm\nreason          none', detail: '\u001b[2J' }));
    expect(shown).toMatch(/one\ntwo \\u001b\[2J\\u202e$/);
    expect(shown).toContain('m\\u000areason');
    expect(shown).not.toContain('\u001b');
  });
});
