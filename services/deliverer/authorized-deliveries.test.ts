import { describe, expect, test } from '@jest/globals';
import type { Outgoing } from '@waybell/line/messages';
import { causedBy } from '@waybell/line/testing/handled';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { readConfig } from './config.ts';
import { renewingRefused } from './credentials/access-tokens.ts';
import type { Credentials } from './credentials/credentials.ts';
import { deliverStep, type DeliverStepOptions } from './deliver-step.ts';
import type { DeliveryTarget } from './find-target.ts';
import type { AttemptRequest } from './request/attempt.ts';
import { aDelivery } from './testing/delivery.ts';
import { issued, NEED, NO_TOKEN, refused, someTokens } from './testing/tokens.ts';
import { SUBSCRIPTION, TARGET } from './testing/waiting.ts';

const config = readConfig({
  DELIVER_ACTIONS: 'carrier.order.created',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
});
const delivery = aDelivery({ subscription: SUBSCRIPTION });
const credentialsOf = (guid: string): Credentials => ({ ...NEED, guid, headers: {}, secrets: [] });
const to = (guid = NEED.guid): DeliveryTarget => ({ ...TARGET, credentials: credentialsOf(guid) });

/** A deliverer whose receiver answers each token so, and 200 unless told otherwise. */
function aDeliverer(what: Partial<DeliverStepOptions> & { statusOf?: (token: string | undefined) => number } = {}) {
  const { statusOf = () => 200, ...options } = what;
  const clock = new TurnedClock();
  const { tokens, fetches } = someTokens({ clock });
  const sent: AttemptRequest[] = [];
  const speeds: string[] = [];
  const callEndpoint = renewingRefused((request, onEnd) => {
    sent.push(request);
    const status = statusOf(request.accessToken);
    onEnd({ isDelivered: status === 200, status, durationMs: 3, ...(status !== 200 && { reason: 'http_4xx' }) });
  }, tokens);
  const step = deliverStep({
    findTargets: async () => [to()],
    admit: (_, __, onAdmitted) => onAdmitted({ kind: 'granted', end: (speed) => void speeds.push(speed) }),
    tokens,
    callEndpoint,
    retain: async () => false,
    onMoved: () => undefined,
    onKeyMissing: () => undefined,
    clock,
    now: () => Math.round(clock.now()),
    config,
    ...options,
  });
  const tokensSent = () => sent.map(({ accessToken }) => accessToken);
  return {
    step,
    clock,
    tokens,
    fetches,
    speeds,
    sent,
    tokensSent,
    caused: (of = delivery, isInHand = () => true) => causedBy(step.handle, of, isInHand),
  };
}

/** Ends the fetch that is under way, some time later. */
async function endFetch({ fetches, clock }: ReturnType<typeof aDeliverer>, fetched = issued('one'), afterMs = 0) {
  await settled();
  clock.skipTo(clock.now() + afterMs);
  fetches.at(-1)?.(fetched);
}

const outcomeOf = (caused: readonly Outgoing[]) =>
  caused.flatMap((each) => (each.kind === 'outcome' && 'answer' in each.outcome ? [each.outcome] : []))[0];

describe('a delivery that needs a token', () => {
  test('has the one that is at hand, at once', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer);
    await caused;
    await deliverer.caused();
    expect(deliverer.tokensSent()).toEqual(['one', 'one']);
    expect(deliverer.fetches).toHaveLength(1);
    expect(deliverer.speeds).toEqual(['quick', 'quick']);
  });

  test('waits for one after its endpoint has admitted it; the time of its request is its own', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one'), 9_000);
    expect(outcomeOf(await caused)).toMatchObject({ kind: 'delivered', answer: { durationMs: 3 } });
    expect(deliverer.speeds).toEqual(['quick']);
  });

  test('is looked up again after a while: it goes with the token of the credentials that it then has', async () => {
    const targets = [to(), to('of later')];
    const deliverer = aDeliverer({ findTargets: async () => [targets.shift() ?? to('of later')] });
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one'), 1_000);
    await settled();
    expect(deliverer.fetches).toHaveLength(2);
    await endFetch(deliverer, issued('two'));
    await caused;
    expect(deliverer.tokensSent()).toEqual(['two']);
  });

  test('goes with the token that it waited for, however short that lives', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one', 1), 1_000);
    await caused;
    expect([deliverer.tokensSent(), deliverer.fetches.length]).toEqual([['one'], 1]);
  });

  test('goes nowhere where its subscription ended meanwhile', async () => {
    const targets = [to(), { ...to(), state: 'ended' as const }];
    const deliverer = aDeliverer({ findTargets: async () => [targets.shift()] });
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one'), 1_000);
    expect(await caused).toMatchObject([{ outcome: { kind: 'dropped' } }]);
    expect([deliverer.tokensSent(), deliverer.speeds]).toEqual([[], ['unused']]);
  });

  test('makes no request where another process has it by then', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused(delivery, () => false).catch(String);
    await endFetch(deliverer);
    expect(await caused).toContain('another process');
    expect([deliverer.tokensSent(), deliverer.speeds]).toEqual([[], ['unused']]);
  });

  test('is for another process, unattempted, where this one ends meanwhile', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await settled();
    deliverer.tokens[Symbol.dispose]();
    expect(await caused).toMatchObject([{ kind: 'wait', row: { why: 'full', id: `${delivery.guid} 1` } }]);
    expect([deliverer.tokensSent(), deliverer.speeds]).toEqual([[], ['unused']]);
  });
});

describe('a token that cannot be had', () => {
  test('is a failed attempt at the callback URL, with what the token URL answered and no status', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer, refused());
    const outcome = outcomeOf(await caused);
    expect(outcome).toMatchObject({ kind: 'failed', attempt: 1, retryAt: 1_000 });
    const { isDelivered: _, ...answer } = NO_TOKEN;
    expect(outcome?.answer).toEqual({ ...answer, url: `${TARGET.callbackUrl}/` });
    expect([deliverer.tokensSent(), deliverer.speeds]).toEqual([[], ['quick']]);
  });

  test('ends the delivery that has no attempt left', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused({ ...delivery, attempt: 4 });
    await endFetch(deliverer, refused());
    expect(await caused).toMatchObject([{ outcome: { kind: 'exhausted' } }, { end: { isDelivered: false } }]);
  });

  test('in time has its endpoint wait as one that hangs', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer, refused({ isHung: true, durationMs: 10_000 }));
    expect(outcomeOf(await caused)?.answer).not.toHaveProperty('isHung');
    expect(deliverer.speeds).toEqual(['hung']);
  });

  test('for a fault of our own network is no attempt', async () => {
    const deliverer = aDeliverer();
    const caused = deliverer.caused();
    await endFetch(deliverer, refused({ isOurs: true }));
    expect(await caused).toMatchObject([{ kind: 'wait', row: { why: 'egress' } }]);
  });
});

describe('a receiver that answers 401', () => {
  test('is called once more with another token, and the answer to that counts', async () => {
    const deliverer = aDeliverer({ statusOf: (token) => (token === 'two' ? 200 : 401) });
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one'));
    await endFetch(deliverer, issued('two'));
    expect(outcomeOf(await caused)).toMatchObject({ kind: 'delivered', attempt: 1, answer: { status: 200 } });
    expect(deliverer.tokensSent()).toEqual(['one', 'two']);
    // Its answer may name the first.
    expect(deliverer.sent[1]?.credentials?.secrets).toContain('one');
  });

  test('to any token is called twice for the first of its attempts, and once for those of the next ten seconds', async () => {
    const deliverer = aDeliverer({ statusOf: () => 401 });
    const first = deliverer.caused();
    await endFetch(deliverer, issued('one'));
    await endFetch(deliverer, issued('two'));
    expect(outcomeOf(await first)).toMatchObject({ kind: 'failed', answer: { status: 401, reason: 'http_4xx' } });
    await deliverer.caused();
    expect(deliverer.tokensSent()).toEqual(['one', 'two', 'two']);
    expect(deliverer.fetches).toHaveLength(2);
  });

  test('while no other token can be had has the attempt fail for that', async () => {
    const deliverer = aDeliverer({ statusOf: () => 401 });
    const caused = deliverer.caused();
    await endFetch(deliverer, issued('one'));
    await endFetch(deliverer, refused());
    const url = 'https://example.com/';
    expect(outcomeOf(await caused)?.answer).toMatchObject({ reason: 'credentials_unavailable', url });
    expect(outcomeOf(await caused)?.answer).not.toHaveProperty('status');
  });

  test('without a token in its request is called once', async () => {
    const deliverer = aDeliverer({ statusOf: () => 401, findTargets: async () => [TARGET] });
    await deliverer.caused();
    expect([deliverer.tokensSent(), deliverer.fetches]).toEqual([[undefined], []]);
  });
});
