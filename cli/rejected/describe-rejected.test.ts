import { describe, expect, test } from '@jest/globals';
import { describeShortly, describeWholly } from './describe-rejected.ts';
import { aRejected } from './testing/a-rejected.ts';

describe('describeShortly', () => {
  test('says why it lies there, whence it came and how big it is', () => {
    expect(describeShortly(aRejected({ messageId: 'm-1' }))).toBe(
      '0123456789  2026-11-20T09:30:00.123Z  payload_invalid  waybell.events.router ← waybell.events ' +
        '"carrier.order.created"  m-1  2 B\n      /payload/id: must be integer',
    );
  });
});

describe('describeWholly', () => {
  const bodyOf = (what: Parameters<typeof aRejected>[0]) => describeWholly(aRejected(what)).split('\n\n').at(-1);

  test('ends with the body', () => {
    expect(bodyOf({ body: Buffer.from('{\n\t"ü": 1}') })).toBe('{\n\t"ü": 1}');
  });

  test.each([
    ['compressed', { body: Buffer.from('x'), contentEncoding: 'gzip' }],
    ['not UTF-8', { body: Buffer.from([0xff]) }],
  ])('points to --raw where the body is %s', (_what, rejected) => {
    expect(bodyOf(rejected)).toContain('--raw');
  });

  test('lets no body or detail steer the terminal', () => {
    const escape = String.fromCharCode(27);
    expect(describeWholly(aRejected({ body: Buffer.from(`${escape}[2J`), detail: `${escape}[2J` }))).not.toContain(
      escape,
    );
    expect(describeShortly(aRejected({ detail: `${escape}[2J`, routingKey: escape, messageId: escape }))).not.toContain(
      escape,
    );
  });
});
