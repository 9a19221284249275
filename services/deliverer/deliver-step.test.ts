import { describe, expect, test } from '@jest/globals';
import { asWaited, publishInstead, type Delivery } from '@waybell/line/delivery';
import { noResult, withDelayElapsed, type Outgoing } from '@waybell/line/messages';
import { takenOf } from '@waybell/line/testing/a-delivery';
import { causedBy, fatesOf } from '@waybell/line/testing/handled';
import { waitingExchange } from '@waybell/line/topology';
import { withLastKnown, lastKnownTarget, type DeliveryTarget } from './find-target.ts';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { readConfig } from './config.ts';
import { deliverStep, type DeliverStepOptions } from './deliver-step.ts';
import type { RequestOrigin } from './flow/endpoint.ts';
import type { CallEndpoint } from './request/call-endpoint.ts';
import { NO_TOKENS } from './testing/no-tokens.ts';
import { roomOf, SUBSCRIPTION, TARGET } from './testing/waiting.ts';
import { aDelivery } from './testing/delivery.ts';

const delivery = aDelivery({
  guid: '0b9c2f6e-7d1f-4e57-8f5e-000000000003',
  subscription: SUBSCRIPTION,
  event: SUBSCRIPTION,
  body: Buffer.from('{}'),
});
const config = readConfig({
  DELIVER_ACTIONS: 'carrier.order.created',
  CARRIER_RETRY_DELAYS: '1s',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
});

/** Builds a step whose requests fail with a 500 by default; counts them. */
function aStep(what: Partial<DeliverStepOptions> = {}) {
  const made = { requests: 0 };
  const step = deliverStep({
    findTargets: async () => [TARGET],
    admit: (_, __, onAdmitted) => onAdmitted({ kind: 'granted', end: () => undefined }),
    tokens: NO_TOKENS,
    callEndpoint: (_, onEnd) => {
      made.requests += 1;
      onEnd({ isDelivered: false, durationMs: 1 });
    },
    retain: async () => false,
    onMoved: () => undefined,
    onKeyMissing: () => undefined,
    clock: new TurnedClock(),
    now: () => 0,
    config,
    ...what,
  });
  return { step, made };
}

/** Returns the delivery as it comes out of its room. */
function drained([waits]: readonly Outgoing[]): Delivery {
  if (waits?.kind !== 'wait') throw new Error('it does not wait');
  const read = aStep().step.parse(asWaited(takenOf(waits.row), { crashes: 0, isOverLimit: false }));
  if ('kind' in read) throw new Error(read.detail);
  return read;
}

const kindsOf = (caused: readonly Outgoing[]) =>
  caused.map((each) => (each.kind === 'outcome' ? `${each.outcome.kind} on record` : each.kind));

const last = { ...delivery, attempt: 2 };
const full: Partial<DeliverStepOptions> = { admit: (_, __, onAdmitted) => onAdmitted({ kind: 'full', why: 'full' }) };

describe('a delivery without room', () => {
  test('waits as it is in the room of its endpoint, unattempted, and is not remembered: it is the same each time', async () => {
    const { step, made } = aStep(full);
    let waiting = delivery;
    for (let times = 0; times < 3; times += 1) {
      const caused = await causedBy(step.handle, waiting);
      const key = { room: roomOf(TARGET), madeAt: 0, id: `${delivery.guid} 1` };
      expect(caused).toMatchObject([{ kind: 'wait', row: { ...key, account: TARGET.account, why: 'full' } }]);
      expect(step.once?.isWorthRemembering(caused)).toBe(false);
      waiting = drained(caused);
      expect(waiting).toMatchObject({ attempt: 1, waited: { why: 'full', room: roomOf(TARGET) } });
      expect(step.once?.keyOf(waiting)).toEqual(step.once?.keyOf(delivery));
    }
    expect(made.requests).toBe(0);
  });

  test('waits on where it waits already; only one that came again may', async () => {
    const asked: unknown[] = [];
    const retain: DeliverStepOptions['retain'] = async (key) => asked.push(key) > 0;
    const { step, made } = aStep({ retain });
    expect(await causedBy(step.handle, { ...delivery, mayWait: true })).toEqual([]);
    expect([asked, made.requests]).toEqual([[{ room: roomOf(TARGET), madeAt: 0, id: `${delivery.guid} 1` }], 0]);
    const both = aStep({ findTargets: async () => [TARGET, TARGET], retain });
    await fatesOf(both.step.handle, [delivery, { ...delivery, mayWait: true }]);
    expect([asked.length, both.made.requests]).toEqual([2, 1]);
  });

  test('is looked for in its room only once it is begun, for a repeat is not; by itself it fails where that fails', async () => {
    const asked: unknown[] = [];
    const retain: DeliverStepOptions['retain'] = async (key) => {
      if (asked.push(key) > 0) throw new Error('a bug');
      return false;
    };
    const both = aStep({ findTargets: async () => [TARGET, TARGET], retain });
    const again = { ...delivery, mayWait: true };
    await both.step.handle([again, delivery], () => true);
    expect(asked).toEqual([]);
    const fates = await fatesOf(both.step.handle, [again, delivery]);
    expect([fates.map(({ kind }) => kind), both.made.requests]).toEqual([['failed', 'done'], 1]);
  });

  test('that came back from the waiting queue may be in its room', async () => {
    const [waits] = await causedBy(aStep(full).step.handle, delivery);
    if (waits?.kind !== 'wait') throw new Error('it does not wait');
    const instead = publishInstead(waits);
    const back = aStep().step.parse({ ...instead, mayWait: true, queue: '', deliveryCount: 0, failures: 0 });
    expect([instead.exchange, back]).toMatchObject([waitingExchange, { mayWait: true, attempt: 1 }]);
  });

  test.each([
    ['leads elsewhere by now', { ...TARGET, callbackUrl: 'https://other.example' }, [roomOf(TARGET)]],
    ['is over by now', { ...TARGET, state: 'ended' as const }, [roomOf(TARGET)]],
    ['is as it was', TARGET, []],
  ])('has its room looked through where its subscription %s', async (_what, target, looked) => {
    const waiting = drained(await causedBy(aStep(full).step.handle, delivery));
    const rooms: string[] = [];
    const { step } = aStep({ findTargets: async () => [target], onMoved: (room) => rooms.push(room) });
    await causedBy(step.handle, waiting);
    expect(rooms).toEqual(looked);
  });
});

describe('what an endpoint is asked for', () => {
  const waited = { room: roomOf(TARGET), why: 'full' } as const;
  const resend = { why: 'resend', fromAttempt: 5 } as const;
  const aTest = { why: 'test', fromAttempt: 1, isRetried: true } as const;

  test.each<[string, Partial<Delivery>, RequestOrigin]>([
    ['a new delivery', {}, 'fresh'],
    ['a retry', { attempt: 2 }, 'retry'],
    ['a delivery that is sent again', { attempt: 5, byHand: resend }, 'fresh'],
    ['the retry of one', { attempt: 6, byHand: resend }, 'retry'],
    ['a test', { byHand: aTest }, 'by hand'],
    ['the retry of a test', { attempt: 2, byHand: aTest }, 'by hand'],
    ['a retry out of its room', { attempt: 2, waited }, 'waited'],
    ['one that is sent again, out of its room', { attempt: 5, byHand: resend, waited }, 'waited'],
    ['a suspect', { isSuspect: true }, 'suspect'],
    ['a suspect out of its room', { isSuspect: true, waited }, 'suspect'],
    ['a test that is a suspect', { isSuspect: true, byHand: aTest }, 'by hand'],
  ])('%s %j is %s', async (_, what, origin) => {
    const asked: unknown[] = [];
    const admit: DeliverStepOptions['admit'] = (key, of, onAdmitted) => {
      asked.push([key.endpoint, of]);
      onAdmitted({ kind: 'full', why: 'full' });
    };
    await causedBy(aStep({ admit }).step.handle, { ...delivery, ...what });
    expect(asked).toEqual([[roomOf(TARGET), origin]]);
  });
});

test('a delivery whose subscription leads elsewhere, once it has waited in hand, asks there, and uses no other admission', async () => {
  const clock = new TurnedClock();
  const elsewhere = { ...TARGET, callbackUrl: 'https://other.example' };
  const targets = [TARGET, elsewhere];
  const told: string[] = [];
  const admit: DeliverStepOptions['admit'] = ({ host }, _, onAdmitted) => {
    told.push(`asks ${host}`);
    clock.skipTo(clock.now() + (host.includes('other') ? 0 : 1_000));
    onAdmitted({ kind: 'granted', end: (speed) => void told.push(`${host} ${speed}`) });
  };
  const callEndpoint: CallEndpoint = ({ callbackUrl }, onEnd) => {
    told.push(`calls ${callbackUrl}`);
    onEnd({ isDelivered: true, durationMs: 1 });
  };
  const findTargets = async () => [targets.shift() ?? elsewhere];
  await causedBy(aStep({ findTargets, admit, callEndpoint, clock }).step.handle, delivery);
  const [first, other] = [TARGET.callbackUrl, elsewhere.callbackUrl];
  expect(told).toEqual([`asks ${first}`, `${first} unused`, `asks ${other}`, `calls ${other}`, `${other} quick`]);
});

describe('a delivery to a subscription that is held', () => {
  const HELD_ROOM = SUBSCRIPTION.replaceAll('-', '');
  const to = (target: Partial<DeliveryTarget>, what: Partial<DeliverStepOptions> = {}) =>
    aStep({ findTargets: async () => [{ ...TARGET, ...target }], ...what });
  const paused = { held: { why: 'paused', until: 5_000 } } as const;
  const stopped = { held: { why: 'stopped' } } as const;

  test.each([
    ['paused, until that ends', paused, 'paused', 5_000],
    ['paused for longer than it may wait', { held: { why: 'paused', until: 2e12 } } as const, 'paused', undefined],
    ['stopped, for as long as it may wait', stopped, 'stopped', undefined],
  ])('(%s) waits in a room of that, unattempted', async (_, target, why, until = config.maxAgeMs + 1) => {
    const { step, made } = to(target, { admit: () => expect('asked').toBe('nothing'), now: () => 300 });
    for (const each of [delivery, last]) {
      const caused = await causedBy(step.handle, { ...each, beganAt: 200 });
      const row = { room: HELD_ROOM, account: TARGET.account, id: `${delivery.guid} ${each.attempt}` };
      expect(caused).toMatchObject([{ kind: 'wait', row: { ...row, why, afterMs: until - 300 } }]);
      expect(step.once?.isWorthRemembering(caused)).toBe(false);
    }
    expect(made.requests).toBe(0);
  });

  test('is attempted once the pause is over, though Postgres says it was not, or is away since', async () => {
    const { step, made } = to(paused, { now: () => 5_000 });
    await causedBy(step.handle, delivery);
    expect(made.requests).toBe(1);
  });

  test('waits, too, where it is held while it waits in hand', async () => {
    const clock = new TurnedClock();
    const targets = [TARGET, { ...TARGET, ...stopped }, { ...TARGET, ...stopped }];
    const used: string[] = [];
    const admit: DeliverStepOptions['admit'] = (_, __, onAdmitted) => {
      clock.skipTo(clock.now() + 1_000);
      onAdmitted({ kind: 'granted', end: (speed) => used.push(speed) });
    };
    const { step, made } = aStep({ findTargets: async () => [targets.shift() ?? TARGET], admit, clock });
    expect(await causedBy(step.handle, delivery)).toMatchObject([{ kind: 'wait', row: { why: 'stopped' } }]);
    expect([made.requests, used]).toEqual([0, ['unused']]);
  });

  test('that came again is looked for in that room; a test, which goes out during a pause, in that of its endpoint', async () => {
    const asked: unknown[] = [];
    const { step } = to(paused, { retain: async (key) => asked.push(key) > 0 });
    expect(await causedBy(step.handle, { ...delivery, mayWait: true })).toEqual([]);
    const byHand = { why: 'test', fromAttempt: 1 } as const;
    expect(await causedBy(step.handle, { ...delivery, byHand, mayWait: true })).toEqual([]);
    expect(asked).toMatchObject([{ room: HELD_ROOM }, { room: roomOf(TARGET) }]);
  });

  test('has the room looked through in which it waited', async () => {
    const waiting = drained(await causedBy(aStep(full).step.handle, delivery));
    const rooms: string[] = [];
    const held = to(paused, { onMoved: (room) => rooms.push(room) });
    const waits = drained(await causedBy(held.step.handle, waiting));
    await causedBy(held.step.handle, waits);
    expect(rooms).toEqual([roomOf(TARGET)]);
    await causedBy(aStep({ onMoved: (room) => rooms.push(room) }).step.handle, waits);
    expect(rooms).toEqual([roomOf(TARGET), HELD_ROOM]);
  });

  test.each([
    ['is dropped', { state: 'ended', ...stopped } as const, 0, 'dropped'],
    ['has expired', stopped, config.maxAgeMs + 1, 'exhausted'],
  ])('ends all the same where it %s', async (_, target, now, kind) => {
    const [caused] = await causedBy(to(target, { now: () => now }).step.handle, delivery);
    expect(caused).toMatchObject({ outcome: { kind } });
  });
});

describe('what is sent by hand to a subscription that takes nothing', () => {
  const by = (why: 'test' | 'resend') => ({ ...delivery, byHand: { why, fromAttempt: 1 } });
  const off = { state: 'deactivated' } as const;
  const paused = { held: { why: 'paused', until: 5_000 } } as const;
  const stopped = { held: { why: 'stopped' } } as const;

  test.each([
    ['test', 'paused', paused, 1],
    ['test', 'switched off', off, 1],
    ['test', 'stopped', { ...off, ...stopped }, 0],
    ['test', 'ended', { state: 'ended' as const }, 0],
    ['test', 'without its feature', { isFeatureOn: false }, 0],
    ['resend', 'paused', paused, 0],
    ['resend', 'switched off', off, 0],
  ] as const)('a %s, as that is %s, is sent so often: %#', async (why, _, target, requests) => {
    const { step, made } = aStep({ findTargets: async () => [{ ...TARGET, ...target }] });
    await causedBy(step.handle, by(why));
    expect(made.requests).toBe(requests);
  });
});

describe('a delivery that ends without an attempt', () => {
  const waited = { room: roomOf(TARGET), why: 'full' } as const;
  const forgotten = { waited: { ...waited, isForgotten: true } };
  const overLimit = { waited: { ...waited, isOverLimit: true } };
  const tooOld = { createdAt: -config.maxAgeMs - 1 };

  test.each<[Partial<DeliveryTarget>, Partial<Delivery>, string]>([
    [{ state: 'ended' }, {}, 'dropped unsubscribed'],
    [{ state: 'ended', isGone: true }, {}, 'dropped gone'],
    [{ state: 'ended', isClosed: true }, {}, 'dropped closed'],
    [{ state: 'deactivated' }, {}, 'dropped deactivated'],
    [{ isFeatureOn: false }, {}, 'dropped feature_off'],
    [{}, forgotten, 'dropped forgotten'],
    [{}, overLimit, 'exhausted parked_over_limit'],
    [{}, tooOld, 'exhausted expired'],
    // The first of these, where there are several reasons.
    [{ state: 'ended' }, forgotten, 'dropped forgotten'],
    [{ state: 'ended', isFeatureOn: false }, tooOld, 'dropped unsubscribed'],
    [{ state: 'deactivated', isFeatureOn: false }, tooOld, 'dropped deactivated'],
    [{ isFeatureOn: false }, { ...overLimit, ...tooOld }, 'dropped feature_off'],
    [{}, { ...overLimit, ...tooOld }, 'exhausted parked_over_limit'],
  ])('to a subscription that is %j, and is %j, says why: %s', async (target, how, told) => {
    const { step, made } = aStep({ findTargets: async () => [{ ...TARGET, ...target }] });
    const [caused] = await causedBy(step.handle, { ...delivery, ...how });
    const [kind, reason] = told.split(' ');
    expect([caused, made.requests]).toMatchObject([{ outcome: { kind, reason } }, 0]);
  });
});

test('an attempt is recognised for as long as is set; what is sent again by hand, each time that it is', () => {
  const { once, dueAt } = aStep().step;
  const again = (createdAt: number) =>
    once?.keyOf({ ...delivery, byHand: { why: 'resend', fromAttempt: 1 }, createdAt }).key;
  expect(once?.ttlMs).toBe(config.rememberMs);
  expect(again(5)).toBe(again(5));
  expect(new Set([again(5), again(6), once?.keyOf(delivery).key]).size).toBe(3);
  expect([dueAt?.({ ...delivery, createdAt: 5 }), dueAt?.({ ...delivery, createdAt: 5, dueAt: 9 })]).toEqual([5, 9]);
});

test('the retry of an attempt goes to its delay queue, and to its own once the delay is over that it was kept for', async () => {
  const [retry] = await causedBy(aStep().step.handle, delivery);
  if (retry?.kind !== 'publish') throw new Error('it was not published');
  expect(retry.exchange).toBe('waybell.retry');
  const { publication, afterMs } = withDelayElapsed(retry);
  expect(publication).toMatchObject({ exchange: 'waybell.deliveries', routingKey: 'carrier.order.created' });
  expect(afterMs).toBe(1_000);
});

describe('a delivery to secrets whose key is missing', () => {
  const locked = { ...TARGET, verificationToken: '', missingKey: '2024' };

  test('waits in the broker, unattempted, and is not remembered', async () => {
    const missed: string[] = [];
    const { step, made } = aStep({ findTargets: async () => [locked], onKeyMissing: (keyId) => missed.push(keyId) });
    const [caused] = await causedBy(step.handle, delivery);
    if (caused?.kind !== 'publish') throw new Error('it was not published');
    expect(caused.exchange).toBe('waybell.waiting');
    const moved = step.parse({ ...caused, queue: '', deliveryCount: 0, failures: 0 });
    if ('kind' in moved) throw new Error(moved.detail);
    expect(moved).toMatchObject({ attempt: 1, subscription: delivery.subscription });
    expect(step.once?.isWorthRemembering([caused])).toBe(false);
    expect(missed).toEqual(['2024']);
    expect(made.requests).toBe(0);
  });

  test('waits, too, where the key is missed only once it has had its turn', async () => {
    const clock = new TurnedClock();
    const targets = [TARGET, locked, locked];
    const admit: DeliverStepOptions['admit'] = (_, __, onAdmitted) => {
      clock.skipTo(clock.now() + 1_000);
      onAdmitted({ kind: 'granted', end: () => undefined });
    };
    const { step, made } = aStep({ findTargets: async () => [targets.shift() ?? locked], admit, clock });
    expect(await causedBy(step.handle, delivery)).toMatchObject([{ kind: 'publish', exchange: 'waybell.waiting' }]);
    expect(made.requests).toBe(0);
  });

  test('is dropped where its subscription is off', async () => {
    const { step } = aStep({ findTargets: async () => [{ ...locked, state: 'deactivated' }] });
    expect(kindsOf(await causedBy(step.handle, delivery))).toEqual(['dropped on record']);
  });
});

describe('an attempt that failed for something of ours', () => {
  const ours = (isLast: boolean[] = []): Partial<DeliverStepOptions> => ({
    callEndpoint: (call, onEnd) => {
      isLast.push(call.isLast);
      onEnd({ isDelivered: false, durationMs: 1, reason: 'unreachable', isOurs: true });
    },
  });

  test('is not counted: the delivery waits as it is, and is attempted again as the same', async () => {
    const isLast: boolean[] = [];
    const again = { ...last, byHand: { why: 'resend', fromAttempt: 2 } } as const;
    for (const each of [delivery, last, again]) {
      const caused = await causedBy(aStep(ours(isLast)).step.handle, each);
      expect(caused).toMatchObject([{ kind: 'wait', row: { why: 'egress', afterMs: 1_000 } }]);
      expect(caused).toHaveLength(1);
      expect(drained(caused)).toMatchObject({ attempt: each.attempt, beganAt: each.beganAt });
    }
    expect(isLast).toEqual([false, true, false]);
  });

  test('leaves its endpoint to single requests', async () => {
    const speeds: string[] = [];
    const admit: DeliverStepOptions['admit'] = (_, __, onAdmitted) =>
      onAdmitted({ kind: 'granted', end: (speed) => void speeds.push(speed) });
    await causedBy(aStep({ ...ours(), admit }).step.handle, delivery);
    expect(speeds).toEqual(['hung']);
  });

  test('ends when it is older than a delivery may be, counting against no subscription', async () => {
    const waiting = drained(await causedBy(aStep(ours()).step.handle, last));
    const tooOld = () => 2 * config.maxAgeMs;
    expect(await causedBy(aStep({ now: tooOld }).step.handle, waiting)).toMatchObject([
      { outcome: { kind: 'exhausted', reason: 'expired' } },
      { end: { isUncounted: true } },
    ]);
  });

  test('is told to the client that tries a subscription out', async () => {
    const byHand = { why: 'test', fromAttempt: 1 } as const;
    expect(kindsOf(await causedBy(aStep(ours()).step.handle, { ...delivery, byHand }))).toEqual([
      'exhausted on record',
    ]);
  });
});

describe('a test that fails', () => {
  test.each([
    ['ends with its one attempt', {}, 'exhausted'],
    ['is retried where it was triggered', { isRetried: true }, 'failed'],
  ] as const)('%s', async (_what, how, kind) => {
    const byHand = { why: 'test', fromAttempt: 1, ...how } as const;
    const refused = aStep({ callEndpoint: (_, onEnd) => onEnd({ isDelivered: false, status: 500, durationMs: 1 }) });
    expect(kindsOf(await causedBy(refused.step.handle, { ...delivery, byHand }))).toContain(`${kind} on record`);
  });
});

describe('a success', () => {
  const byHand = { why: 'resend', fromAttempt: 1 } as const;
  const told = ['delivered on record', 'end'];

  /** Returns the effects of a success whose request takes `tookMs`. */
  async function succeed(what: Partial<DeliverStepOptions> = {}, tookMs = 0, how: Partial<Delivery> = {}) {
    const clock = new TurnedClock();
    const callEndpoint: CallEndpoint = (_, onEnd) => {
      clock.skipTo(clock.now() + tookMs);
      onEnd({ isDelivered: true, durationMs: tookMs });
    };
    return kindsOf(await causedBy(aStep({ clock, callEndpoint, ...what }).step.handle, { ...delivery, ...how }));
  }

  const matters = { findTargets: async () => [{ ...TARGET, reportsSuccess: true }] };

  test('that cannot matter is on record, and the deactivator is not told', async () => {
    expect(await succeed()).toEqual(['delivered on record']);
    expect(await succeed({}, 0, { byHand })).toEqual(['delivered on record']);
  });

  test('of a subscription to which it can matter is told, by hand or not', async () => {
    expect(await succeed(matters)).toEqual(told);
    expect(await succeed(matters, 0, { byHand })).toEqual(told);
  });

  test('is told where the look-up is over a second old when it comes', async () => {
    expect(await succeed({}, 1_000)).toEqual(['delivered on record']);
    expect(await succeed({}, 1_001)).toEqual(told);
  });

  test('is told where the look-up took over a second', async () => {
    const clock = new TurnedClock();
    const findTargets = async () => {
      clock.skipTo(clock.now() + 1_001);
      return [TARGET];
    };
    const callEndpoint: CallEndpoint = (_, onEnd) => onEnd({ isDelivered: true, durationMs: 0 });
    expect(await succeed({ clock, findTargets, callEndpoint })).toEqual(told);
  });

  test('is told where Postgres is away, and the subscription is as it was last known', async () => {
    let isAway = false;
    const load = async () => {
      if (isAway) throw new Unavailable('postgres', async () => undefined);
      return [TARGET];
    };
    const known = { maxAgeMs: 60_000, maxEntries: 1, clock: new TurnedClock(), asLastKnown: lastKnownTarget };
    const findTargets = withLastKnown<DeliveryTarget | undefined>(load, known);
    expect(await succeed({ findTargets })).toEqual(['delivered on record']);
    isAway = true;
    expect(await succeed({ findTargets })).toEqual(told);
    isAway = false;
    expect(await succeed({ findTargets })).toEqual(['delivered on record']);
  });
});

test('no request is made of what was taken back while it waited in hand, a row or a message: the process that has it makes one', async () => {
  const waiting = drained(await causedBy(aStep(full).step.handle, delivery));
  const speeds: string[] = [];
  const admit: DeliverStepOptions['admit'] = (_, __, onAdmitted) =>
    onAdmitted({ kind: 'granted', end: (speed) => void speeds.push(speed) });
  const { step, made } = aStep({ admit });
  for (const each of [waiting, delivery])
    await expect(causedBy(step.handle, each, () => false)).rejects.toThrow('another process');
  expect([made.requests, speeds]).toEqual([0, ['unused', 'unused']]);
});

test('a row whose body was deleted ends though its subscription cannot be read: as a suspect it would be sent empty', async () => {
  const waiting = drained(await causedBy(aStep(full).step.handle, delivery));
  const forgotten = {
    ...waiting,
    body: Buffer.alloc(0),
    waited: { room: roomOf(TARGET), why: 'full', isForgotten: true } as const,
  };
  const { step } = aStep({ findTargets: async () => [noResult(new Error('its secrets cannot be opened'))] });
  expect(kindsOf(await causedBy(step.handle, forgotten))).toEqual(['dropped on record']);
  await expect(causedBy(step.handle, waiting)).rejects.toThrow('cannot be opened');
});
