import { describe, expect, test } from '@jest/globals';
import type { Attempted, Outcome, Routed, Suppression } from '@waybell/line/outcomes';
import { balance, sumOf } from './balance.ts';
import type { Books, Rejection, Seen } from './books.ts';
import { endsAfter, type Ending, type Owed } from './owed.ts';

const facts = { subscription: 's', generation: 1, event: 'e', interface: 'carrier', action: 'order.created' } as const;
const to = { subscription: 's', delivery: 'd', path: '/path', token: 'token', body: '{}' };
const owing = (ends: readonly Ending[], delivery = 'd'): Owed => {
  return { event: 'e', account: 'a', to: { ...to, delivery }, ends };
};
const request = (attempt: number, answered?: number, other: Partial<Seen> = {}): Seen => {
  return { ...to, attempt, ...(answered !== undefined && { answered }), ...other };
};
const record = (kind: 'delivered' | 'exhausted' | 'failed', attempt: number, status: number | undefined): Attempted => {
  const answer = { durationMs: 1, ...(status !== undefined && { status }) };
  const about = { ...facts, delivery: 'd', attempt, at: attempt, beganAt: 0, answer };
  if (kind === 'failed') return { ...about, kind, retryAt: 0 };
  return { ...about, kind } as Attempted;
};
const dropped = (attempt: number): Attempted => {
  return { ...facts, delivery: 'd', attempt, at: 9, kind: 'dropped', reason: 'deactivated' };
};
const { event, interface: side, action } = facts;
const routed = { kind: 'routed', event, interface: side, action, at: 0, keys: [] } as const;
const suppressed = (reason: Suppression['reason'], other: Partial<Suppression> = { account: 'a' }): Routed => ({
  ...routed,
  receivers: ['a'],
  deliveries: [],
  suppressed: [{ reason, ...other }],
});

type Came = { seen?: Seen[]; outcomes?: Outcome[]; rejections?: Rejection[] };
const what = (ends: readonly Ending[], came: Came) => {
  const books: Books = { owed: [owing(ends)], seen: [], outcomes: [], rejections: [], ...came };
  return balance(books);
};

const delivered = endsAfter([200]);
const atTheSecond = endsAfter([500, 200]);
const exhausted = endsAfter([500, 500]);
const offAtLast = endsAfter([500, 500], true);
const never = endsAfter([undefined]);
const inTheEnd: Ending[] = [{ kind: 'delivered', answers: { most: 3 } }];
const neverOfThree: Ending[] = [{ kind: 'exhausted', answers: { most: 3 } }];
const unknown: Ending[] = [{ kind: 'suppressed', reason: 'no_subscription' }];
const malformed: Ending[] = [{ kind: 'rejected', reason: 'payload_invalid' }];

const asked = (...answered: number[]) => answered.map((status, index) => request(index + 1, status));
const once = { seen: asked(200), outcomes: [record('delivered', 1, 200)] };
const twice = { seen: asked(500, 200), outcomes: [record('failed', 1, 500), record('delivered', 2, 200)] };
const wholly = { seen: asked(500, 500), outcomes: [record('failed', 1, 500), record('exhausted', 2, 500)] };
const early = { seen: asked(500), outcomes: [record('exhausted', 1, 500)] };
const skipping = {
  seen: [request(1, 500), request(3, 500)],
  outcomes: [record('failed', 1, 500), record('exhausted', 3, 500)],
};
const rejected = (messageId: string, reason = 'payload_invalid') => ({ rejections: [{ messageId, reason, body: '' }] });
const given = (reason: Suppression['reason'], other?: Partial<Suppression>) => ({
  outcomes: [suppressed(reason, other)],
});

const rightEnds: [string, Ending[], Came, keyof ReturnType<typeof what>][] = [
  ['delivered at once', delivered, once, 'delivered'],
  ['delivered after a failure', atTheSecond, twice, 'delivered'],
  ['exhausted after the whole schedule', exhausted, wholly, 'exhausted'],
  ['suppressed as owed', unknown, given('no_subscription'), 'suppressed'],
  ['suppressed for all', unknown, given('no_subscription', {}), 'suppressed'],
  ['an event rejected as owed', malformed, rejected('e'), 'rejected'],
  ['a delivery rejected as owed', malformed, rejected('d'), 'rejected'],
  ['routed again', delivered, { ...once, outcomes: [...once.outcomes, suppressed('duplicate')] }, 'delivered'],
  ['recorded twice alike', delivered, { ...once, outcomes: [...once.outcomes, ...once.outcomes] }, 'delivered'],
  ['cut, and made again', delivered, { ...once, seen: [request(1), ...once.seen] }, 'delivered'],
  ['delivered after as many failures as it took', inTheEnd, twice, 'delivered'],
  ['never answered', never, { seen: [request(1)], outcomes: [record('exhausted', 1, undefined)] }, 'exhausted'],
];

const wrongEnds: [string, Ending[], Came, string][] = [
  ['nothing', delivered, {}, 'nothing came of it'],
  ['no more than a failure', atTheSecond, { seen: asked(500), outcomes: [record('failed', 1, 500)] }, 'nothing came'],
  ['nothing but a repeat', delivered, given('duplicate'), 'nothing came of it'],
  ['no_subscription, of one that is active', delivered, given('no_subscription'), 'but suppressed no_subscription'],
  ['suppressed for another reason', unknown, given('feature_off'), 'but suppressed feature_off'],
  ['a good event rejected', delivered, rejected('e'), 'but rejected payload_invalid'],
  ['rejected for another reason', malformed, rejected('e', 'not_json'), 'but rejected not_json'],
  ['delivered, and rejected as well', delivered, { ...once, ...rejected('d') }, 'but rejected'],
  ['delivered on a 500', delivered, { ...once, seen: asked(500) }, 'attempt 1 was not answered with 200'],
  ['delivered, and the receiver never answered', delivered, { ...once, seen: [request(1)] }, 'not answered with 200'],
  ['delivered, and nobody saw it', delivered, { ...once, seen: [] }, 'attempt 1 never came'],
  ['delivered where all fails', exhausted, { ...once, seen: asked(500) }, 'owed: exhausted, but delivered'],
  ['exhausted at the first attempt', exhausted, early, 'attempt 1 is recorded as exhausted'],
  ['exhausted with an attempt left out', endsAfter([500, 500, 500]), skipping, 'attempt 2 never came'],
  ['an attempt beyond the schedule', exhausted, { ...wholly, seen: asked(500, 500, 500) }, 'attempt 3 was made, of 2'],
  ['an attempt after a success', delivered, { ...once, seen: asked(200, 200) }, 'attempt 2 was made, of 1'],
  [
    'a failure without a record',
    atTheSecond,
    { ...twice, outcomes: twice.outcomes.slice(1) },
    'attempt 1 has no record',
  ],
  ['a failure that was another', endsAfter([503, 200]), twice, 'attempt 1 was not answered with 503'],
  ['a failure recorded as another', endsAfter([503, 200]), { ...twice, seen: asked(503, 200) }, 'recorded as failed'],
  [
    'a record of nothing',
    delivered,
    { ...once, outcomes: [...once.outcomes, record('failed', 2, 500)] },
    'made 0 times',
  ],
  ['another path', delivered, { ...once, seen: [request(1, 200, { path: '/other' })] }, 'went to /other'],
  ['other bytes', delivered, { ...once, seen: [request(1, 200, { body: '{ }' })] }, 'carries { } instead of {}'],
  ['another token', delivered, { ...once, seen: [request(1, 200, { token: 'x' })] }, 'another verification token'],
  ['a request for nobody', unknown, { ...given('no_subscription'), seen: asked(200) }, 'attempt 1 was made, of 0'],
  ['delivered in the end, on a 500', inTheEnd, { ...once, seen: asked(500) }, 'do not lead to it'],
  ['given up before the last attempt', neverOfThree, wholly, 'do not lead to it'],
  ['dropped before any was exhausted', offAtLast, { outcomes: [dropped(1)] }, 'but dropped deactivated'],
  ['dropped where the subscription stays on', exhausted, { outcomes: [dropped(1)] }, 'but dropped deactivated'],
];

describe('balance', () => {
  test.each(rightEnds)('%s is an end', (_name, ends, came, end) => {
    expect(what(ends, came)).toMatchObject({ [end]: 1, lost: [] });
  });

  test.each(wrongEnds)('%s is none', (_name, ends, came, why) => {
    const { lost, ...sum } = what(ends, came);
    expect(lost).toEqual([{ event: 'e', delivery: 'd', why: expect.stringContaining(why) }]);
    expect(sum).toMatchObject({ delivered: 0, exhausted: 0, dropped: 0, suppressed: 0, rejected: 0 });
  });

  test('once one is exhausted, others are dropped and later events suppressed', () => {
    const other = (outcome: Attempted) => ({ ...outcome, delivery: 'd2' });
    const seen = [...wholly.seen, request(1, 500, { delivery: 'd2' })];
    const outcomes = [...wholly.outcomes, other(record('failed', 1, 500)), other(dropped(2))];
    const later: Routed = { ...suppressed('no_subscription'), event: 'e3' };
    const owed = [owing(offAtLast), owing(offAtLast, 'd2'), { ...owing(offAtLast, 'd3'), event: 'e3' }];
    const books = { owed, seen, outcomes: [...outcomes, later], rejections: [] };
    expect(balance(books)).toMatchObject({ exhausted: 1, dropped: 1, suppressed: 1, lost: [] });
    expect(balance({ ...books, outcomes: [later, ...outcomes] }).lost).toHaveLength(1);
  });

  test('what one subscription of an account is owed, another does not get for it', () => {
    const books = { owed: [owing(delivered), owing(delivered, 'd2')], rejections: [], ...once };
    expect(balance(books)).toMatchObject({ delivered: 1, lost: [{ delivery: 'd2' }] });
  });

  test('an attempt that is repeated goes to where its subscription has moved since, and to nowhere else', () => {
    const moving = (moves: string[]): Owed[] => [{ ...owing(delivered), to: { ...to, moves } }];
    const seen = [...once.seen, request(1, 200, { path: '/later' })];
    const of = (moves: string[]) => balance({ owed: moving(moves), rejections: [], ...once, seen });
    expect(of(['/before', '/path', '/later'])).toMatchObject({ delivered: 1, duplicates: 1, lost: [] });
    expect(of(['/later', '/path'])).toMatchObject({ lost: [{ why: expect.stringContaining('went to /later') }] });
  });

  test('a request beyond the first of the same attempt is a duplicate, two such attempts are a fork', () => {
    const again = (...seen: Seen[]) => what(atTheSecond, { ...twice, seen: [...twice.seen, ...seen] });
    expect(again(request(1, 500))).toMatchObject({ duplicates: 1, forked: [], lost: [] });
    expect(again(request(1, 500), request(2, 200), request(2))).toMatchObject({ duplicates: 3, forked: ['d'] });
  });
});

describe('sumOf', () => {
  test('several balances count together', () => {
    const [lost, right] = [what(delivered, {}), what(delivered, { ...once, seen: [...once.seen, ...once.seen] })];
    expect(sumOf([lost, right, right])).toEqual({ ...right, delivered: 2, duplicates: 2, lost: lost.lost });
  });
});
