import { zstdCompressSync } from 'node:zlib';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { anyCharacter } from './testing/any-character.ts';
import type { Message } from './messages.ts';
import {
  publishOutcomes,
  readable,
  readBatch,
  readOutcomes,
  decompressedBytes,
  writeOutcomes,
  readEnds,
  recordWithEnd,
  writeEnds,
} from './outcome-batch.ts';
import type { Outcome, Attempted, DeliveryEnd } from './outcomes.ts';

const aMessage = (body: Buffer): Message => ({
  queue: 'q',
  exchange: 'x',
  routingKey: '',
  body,
  deliveryCount: 0,
  failures: 0,
});
const of = { event: 'e', interface: 'carrier', action: 'order.created', at: 2 } as const;
const facts = { ...of, delivery: 'd', subscription: 's', generation: 3, attempt: 1 };
const dropped: Outcome = { kind: 'dropped', reason: 'unsubscribed', ...facts };

describe('bodies', () => {
  test.each(['plain', 'naïve', '日本', '🚚 '.repeat(3_000)])(
    'travel as bytes, also those that are text: %#',
    (body) => {
      const written = writeOutcomes([{ ...dropped, body: Buffer.from(body) }, dropped, { ...dropped, body: 'after' }]);
      expect(readOutcomes(written).map((each) => ('body' in each ? each.body : undefined))).toEqual([
        Buffer.from(body),
        undefined,
        Buffer.from('after'),
      ]);
    },
  );
});

describe('a record with bodies over 4 MiB', () => {
  const large = 'x'.repeat(2 ** 22 + 1);
  const answered = { durationMs: 1, status: 500, body: 'no' };
  const none = { keys: [], receivers: [], deliveries: [], suppressed: [] };

  test.each<[string, Outcome, object]>([
    [
      'an attempt',
      { kind: 'exhausted', ...facts, beganAt: 1, answer: answered, body: large },
      { answer: { status: 500 } },
    ],
    ['what was dropped', { ...dropped, body: large }, { reason: 'unsubscribed' }],
    ['an event', { kind: 'routed', ...of, ...none, kept: { accounts: ['a'], body: large } }, { event: 'e' }],
  ])('is written without what was sent and answered, and its neighbours are whole: %s', (_what, outcome, left) => {
    const [first, second] = readOutcomes(writeOutcomes([outcome, { ...dropped, body: 'small' }]));
    expect(first).toMatchObject({ kind: outcome.kind, ...left });
    expect(JSON.stringify(first)).not.toContain('body');
    expect(second).toMatchObject({ body: Buffer.from('small') });
  });

  test('is not one of many deliveries: it keeps its event, from which others that missed it can have it', () => {
    const deliveries = Array.from({ length: 30_000 }, () => ({ subscription: 's', account: 'a' }));
    const kept = { accounts: ['a'], body: Buffer.from('small') };
    const routed: Outcome = { kind: 'routed', ...of, ...none, receivers: ['a'], deliveries, kept };
    const [outcome] = readOutcomes(writeOutcomes([routed]));
    expect(outcome).toMatchObject({ kept });
  });
});

describe('a batch that is compressed', () => {
  const batch = (length: number) => writeOutcomes([{ ...dropped, body: 'x'.repeat(length) }]);

  test.each([5_000, 70_000, 1_000_000])('says what it weighs: with a body of %i', (length) => {
    expect(batch(length).length).toBeLessThan(1_000);
    expect(decompressedBytes(batch(length))).toBe(readable(batch(length)).length);
  });

  test('is not decompressed beyond what it says', () => {
    const lie = batch(70_000);
    // The frame header has the length where the magic number and the descriptor end.
    lie.writeUInt16LE(100, lie.indexOf(decompressedBytes(lie) & 0xff, 5));
    expect(readBatch(aMessage(lie))).toMatchObject({ kind: 'reject', reason: 'not_outcomes' });
  });
});

const anyText = fc.string({ unit: anyCharacter });
const bytes = anyText.map((each) => Buffer.from(each));
const maybe = <T>(value: fc.Arbitrary<T>) => fc.option(value, { nil: undefined });
const answer = fc.record(
  {
    durationMs: fc.nat(),
    status: fc.nat(),
    reason: anyText,
    url: anyText,
    ip: anyText,
    firstByteMs: fc.nat(),
    body: anyText,
    brokenRule: anyText,
  },
  { requiredKeys: ['durationMs'] },
);
const anyOutcome = fc.oneof(
  fc
    .record({ body: maybe(bytes), byHand: maybe(fc.constant('test')), waited: maybe(fc.constant('full')) })
    .map((some) => ({ ...dropped, ...some })),
  fc
    .record({ body: maybe(bytes), answer })
    .map((some) => ({ kind: 'failed', ...facts, ...some, beganAt: 1, retryAt: 9 })),
  fc.record({ body: maybe(bytes), answer }).map((some) => ({ kind: 'delivered', ...facts, ...some, beganAt: 1 })),
  fc
    .record({
      keys: fc.array(fc.record({ kind: anyText, key: anyText })),
      receivers: fc.uniqueArray(anyText, { minLength: 1 }),
      client: anyText,
      kept: maybe(fc.record({ body: bytes })),
    })
    .map(({ client, kept, receivers, ...some }) => {
      const deliveries = receivers.map((account) => ({ subscription: 's', account }));
      const suppressed = [{ reason: 'feature_off', client }];
      const event = kept && { accounts: receivers.slice(1), ...kept };
      return { kind: 'routed', ...of, ...some, receivers, deliveries, suppressed, kept: event };
    }),
  fc.record({ detail: anyText, delivery: maybe(anyText) }).map((some) => ({
    kind: 'rejected',
    ...of,
    keys: [{ kind: 'order_guid', key: 's' }],
    receivers: [],
    reason: 'r',
    ...some,
  })),
  fc.record({ client: anyText, delivery: maybe(anyText) }).map((some) => ({
    kind: 'deactivated',
    interface: 'carrier',
    action: 'order.created',
    at: 2,
    subscription: 's',
    generation: 3,
    account: 'a',
    rule: 'window',
    ...some,
  })),
) as fc.Arbitrary<Outcome>;

describe('readOutcomes', () => {
  test('reads what was written, whatever it says, compressed or not', () => {
    fc.assert(
      fc.property(fc.array(anyOutcome, { maxLength: 40 }), (outcomes) => {
        expect(readOutcomes(writeOutcomes(outcomes))).toEqual(outcomes);
      }),
    );
  });
});

describe('publishOutcomes', () => {
  test('says what it is, and compresses what is worth it', () => {
    const body = '{"text":"a \\"quote\\" and é"}';
    const [few, many] = [1, 100].map((count) =>
      publishOutcomes(Array.from({ length: count }, () => ({ ...dropped, body }))),
    );
    expect(few).toMatchObject({ contentType: 'application/vnd.waybell.outcomes' });
    expect(few).not.toHaveProperty('contentEncoding');
    expect(few?.body.toString()).toContain(body);
    expect(many).toMatchObject({ contentType: 'application/vnd.waybell.outcomes', contentEncoding: 'zstd' });
    expect(many?.body.length).toBeLessThan(1_000);
    expect(readable(many?.body ?? Buffer.alloc(0)).toString()).toContain(body);
  });
});

describe('readBatch', () => {
  test('reads what was written', () => {
    expect(readBatch(aMessage(writeOutcomes([dropped, dropped])))).toEqual([dropped, dropped]);
  });

  test('rejects a later format as that, compressed or not', () => {
    for (const padding of ['', ' '.repeat(10_000)]) {
      const body = Buffer.from(`{"version":6,"outcomes":[]${padding}}\n`);
      for (const sent of [body, zstdCompressSync(body)]) {
        expect(readBatch(aMessage(sent))).toMatchObject({ kind: 'reject', reason: 'newer_format' });
      }
    }
  });

  test.each([
    '',
    '\n',
    '[]\n',
    'null\n',
    '{"version":5}\n',
    '{"version":4,"outcomes":[]}\n',
    '{"version":5,"outcomes":{}}\n',
    '{"version":5,"outcomes":[5]}\n',
    '{"version":5,"outcomes":[null]}\n',
    '{"version":5,"outcomes":[]}',
  ])('rejects %p', (written) => {
    expect(readBatch(aMessage(Buffer.from(written)))).toMatchObject({ kind: 'reject', reason: 'not_outcomes' });
  });

  test('rejects what cannot be decompressed', () => {
    const cut = writeOutcomes(Array.from({ length: 100 }, () => dropped)).subarray(0, 100);
    expect(readBatch(aMessage(cut))).toMatchObject({ kind: 'reject', reason: 'not_outcomes' });
  });
});

const endFacts = {
  delivery: 'd',
  subscription: 's',
  generation: 3,
  event: 'e',
  interface: 'carrier' as const,
  action: 'order.created',
  attempt: 4,
  at: 2,
  beganAt: 1,
};
const endAnswer = { durationMs: 1, reason: 'http_5xx' as const, status: 503 };
const delivered: Attempted = { ...endFacts, kind: 'delivered', answer: endAnswer };
const exhausted: Attempted = { ...endFacts, kind: 'exhausted', answer: endAnswer, body: '{}' };
const unattempted = { ...endFacts, kind: 'exhausted' as const };
const end = { delivery: 'd', subscription: 's', generation: 3, isDelivered: false, at: 2 };
const failed = { ...end, reason: 'http_5xx' as const, status: 503 };

const endOf = (outcome: Attempted, how?: Parameters<typeof recordWithEnd>[1]) => {
  const [record, ...ends] = recordWithEnd(outcome, how);
  expect(record).toEqual({ kind: 'outcome', outcome });
  return ends;
};

describe('recordWithEnd', () => {
  test('tells of a delivery that exhausted its attempts', () => {
    expect(endOf(exhausted)).toEqual([{ kind: 'end', end: failed }]);
  });

  test.each([undefined, 'resend', 'test'] as const)(
    'tells of a success where that is asked for, by hand: %p',
    (hand) => {
      const outcome = hand === undefined ? delivered : { ...delivered, byHand: hand };
      expect(endOf(outcome, { reportsSuccess: true })).toEqual([{ kind: 'end', end: { ...end, isDelivered: true } }]);
      expect(endOf(outcome)).toEqual([]);
    },
  );

  test.each<[string, Attempted]>([
    ['an attempt that a retry may make good', { ...endFacts, kind: 'failed', answer: endAnswer, retryAt: 3 }],
    ['what was dropped', { ...endFacts, kind: 'dropped', reason: 'unsubscribed' }],
    ['a test', { ...exhausted, byHand: 'test' }],
  ])('tells nothing of %s', (_, outcome) => {
    expect(endOf(outcome, { reportsSuccess: true })).toEqual([]);
  });
});

describe('recordWithEnd, of what says nothing about a receiver,', () => {
  test.each<[string, Attempted, object]>([
    ['what failed by hand', { ...exhausted, byHand: 'resend' }, { reason: 'http_5xx', status: 503 }],
    ['what waited too long', { ...unattempted, reason: 'expired' }, { reason: 'expired' }],
    ['one of too many that waited', { ...unattempted, reason: 'parked_over_limit' }, { reason: 'parked_over_limit' }],
  ])('tells %s as uncounted', (_, outcome, why) => {
    expect(endOf(outcome)).toEqual([{ kind: 'end', end: { ...end, ...why, isUncounted: true } }]);
  });
});

describe('an answer of 410', () => {
  const gone = { kind: 'end', end: { ...end, isGone: true } };
  const answered = { ...endAnswer, reason: 'http_4xx' as const, status: 410 };

  test('is told of after whatever attempt, and beside the end of its delivery', () => {
    expect(endOf({ ...endFacts, kind: 'failed', answer: answered, retryAt: 3 })).toEqual([gone]);
    expect(endOf({ ...exhausted, answer: answered })).toEqual([
      { kind: 'end', end: { ...end, reason: 'http_4xx', status: 410 } },
      gone,
    ]);
  });

  test.each(['resend', 'test'] as const)('to what was sent by hand (%s) ends nothing', (byHand) => {
    expect(endOf({ ...endFacts, kind: 'failed', answer: answered, retryAt: 3, byHand })).toEqual([]);
  });

  test('is passed over where it is not known: as a failure it would count', () => {
    const ends: DeliveryEnd[] = [failed, { ...end, isGone: true }];
    const written = writeEnds(ends);
    expect(JSON.parse(written.toString()).ends).toHaveLength(1);
    expect(readEnds({ body: written })).toEqual(ends);
  });
});

describe('readEnds', () => {
  test('reads what was written', () => {
    const expired: DeliveryEnd = { ...end, reason: 'expired', isUncounted: true };
    const ends: DeliveryEnd[] = [end, { ...end, isDelivered: true, at: 1_700_000_000_000 }, failed, expired];
    expect(readEnds({ body: writeEnds(ends) })).toEqual(ends);
  });

  test('counts nothing uncounted where only what counts is known', () => {
    const { ends } = JSON.parse(writeEnds([{ ...end, reason: 'expired', isUncounted: true }, failed]).toString());
    expect(ends).toEqual([['d', 's', 3, false, 2, 'http_5xx', 503]]);
  });

  test('rejects a later format as that', () => {
    const body = Buffer.from('{"version":3,"ends":"whatever"}');
    expect(readEnds({ body })).toMatchObject({ kind: 'reject', reason: 'newer_format' });
  });

  test.each(['nonsense', 'null', '{}', '{"version":1,"ends":[]}', '{"version":2,"ends":1}'])('rejects %s', (text) => {
    expect(readEnds({ body: Buffer.from(text) })).toMatchObject({ kind: 'reject', reason: 'not_ends' });
  });
});
