import { describe, expect, test } from '@jest/globals';
import { causeOf, stretchesWithout } from './no-subscription.ts';
import type { SubscriptionEntry, Switch } from './subscriptions.ts';

const subscription = 'a3e0b6c4-6f5e-4a3f-9a55-0c8f2f0f7d11';
const off = (at: number): Switch => ({ at, isOn: false, rule: 'exhausted' });
const on = (at: number): Switch => ({ at, isOn: true });
const aSubscription = (...switches: Switch[]): SubscriptionEntry => ({
  subscription,
  account: '6f1e2ab4-0f0c-4c1c-9a3c-0d6d0f6f3a51',
  client: 'default',
  interface: 'carrier',
  action: 'order.created',
  url: 'https://hooks.test/a',
  createdAt: 0,
  endedAt: null,
  pausedUntil: null,
  stop: null,
  failingSince: null,
  lastSuccessAt: null,
  switches,
});
const causedAt = (at: number) => ({ cause: 'switched_off', subscription, at, rule: 'exhausted' });

describe('causeOf', () => {
  test.each<[string, Switch[], number, object | undefined]>([
    ['off', [off(60_000)], 70_000, causedAt(60_000)],
    ['on', [off(60_000), on(70_000)], 75_000, undefined],
    ['just on after ten seconds off', [off(60_000), on(70_000)], 74_999, causedAt(60_000)],
    ['just on after a second off', [off(60_000), on(61_000)], 61_007, causedAt(60_000)],
    ['just on after off and on again', [off(60_000), on(60_500), off(61_000), on(61_500)], 62_000, causedAt(61_000)],
    ['just on, as the audit log has it, after nothing', [on(60_000)], 60_100, undefined],
    ['on for long', [], 60_000, undefined],
  ])('an event that met a subscription that was %s', (_what, switches, at, cause) => {
    expect(causeOf([aSubscription(...switches)], at)).toEqual(cause);
  });
});

describe('stretchesWithout', () => {
  test('has what came while it was off, and a moment more, however short that was', () => {
    const stretches = stretchesWithout([aSubscription(off(60_000), on(61_000))], { sinceMs: 20_000, untilMs: 90_000 });
    expect([stretches[0]?.from, stretches.at(-1)?.until]).toEqual([60_000, 66_000]);
    expect(stretches.slice(1).map(({ from }) => from)).toEqual(stretches.slice(0, -1).map(({ until }) => until));
  });
});
