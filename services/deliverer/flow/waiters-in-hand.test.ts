import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';
import type { Admission, WaitingOrigin } from './endpoint.ts';
import { WaitingDeliveries } from './known-endpoint.ts';

const one = keyOf('one');
const kindOf = (admission: Admission) => (admission.kind === 'granted' ? 'granted' : admission.why);

describe('in hand', () => {
  test('a burst to an endpoint that answers quickly waits for its turn', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'quick', 2);
    const burst = Array.from({ length: 50 }, async () => {
      const admission = await some.admit(one);
      await some.clock.sleep(2);
      if (admission.kind === 'granted') admission.end('quick');
      return admission.kind;
    });
    await some.clock.runFor(1_000);
    expect(new Set(await Promise.all(burst))).toEqual(new Set(['granted']));
  });

  test('a fresh one waits for its patience, one from the room and one by hand for as long as the endpoint answers', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'slow', 50_000);
    const ends = await some.begin(one, 4);
    const fresh = some.admit(one);
    const others = [some.admit(one, 'waited'), some.admit(one, 'by hand')];
    await some.clock.runFor(1_000);
    expect(await fresh).toEqual({ kind: 'full', why: 'full' });
    await some.clock.runFor(40_000);
    expect(some.endpoints.figures()).toMatchObject({ inHand: 2, full: { full: 1, hung: 0 } });
    for (const end of ends) end('slow');
    expect((await Promise.all(others)).map(kindOf)).toEqual(['granted', 'granted']);
  });

  test('no more fresh ones wait than may for each endpoint, than may in all, or than are likely to be served in time', async () => {
    const waiting = async (some: SomeEndpoints, key = one) => {
      let count = 0;
      while ((await some.told(key)) === 'waits') count += 1;
      return count;
    };
    const each = new SomeEndpoints({ maxInHandEach: 7 });
    await each.begin(one, 4);
    expect(await waiting(each)).toBe(7);
    const all = new SomeEndpoints({ maxInHand: 10, maxInHandEach: 7 });
    for (const key of [one, keyOf('two')]) await all.begin(key, 4);
    expect([await waiting(all), await waiting(all, keyOf('two'))]).toEqual([7, 3]);
    const served = new SomeEndpoints();
    await served.once(one, 'quick', 500);
    await served.begin(one, 4);
    expect(await waiting(served)).toBe(8);
  });

  test('whatever is for a hung endpoint is told so at once, and all but one of those from the room', async () => {
    const some = new SomeEndpoints();
    const ends = await some.begin(one, 4);
    const waited = Array.from({ length: 3 }, () => some.admit(one, 'waited'));
    await some.clock.runFor(500);
    ends[0]?.('hung');
    await settled();
    expect(some.endpoints.figures()).toMatchObject({ inHand: 1, full: { hung: 2 } });
    expect((await Promise.all(waited.slice(1))).map(kindOf)).toEqual(['hung', 'hung']);
    expect(await some.told(one, 'waited')).toBe('hung');
    expect(await some.told(one)).toBe('hung');
    await some.clock.runFor(500);
    expect(kindOf((await waited[0]) ?? { kind: 'full', why: 'full' })).toBe('granted');
  });

  test('those wait on that lack nothing but a slot, which trusted ones hold', async () => {
    const some = new SomeEndpoints({ slots: 8, shares: { hung: 1, new: 1, slow: 1 } });
    const other = keyOf('other');
    for (const key of [one, other]) await some.once(key, 'quick', 900);
    await some.begin(one, 2);
    const more = await Promise.all(
      ['a', 'b', 'c', 'd', 'e', 'f'].map((name) => some.begun(keyOf(name, { account: name }))),
    );
    const waiting = some.admit(other);
    await some.clock.runFor(900);
    await some.clock.runFor(1_500);
    expect(some.endpoints.figures().inHand).toBe(1);
    more[0]?.('quick');
    expect(kindOf(await waiting)).toBe('granted');
  });

  test('none waits once it is closed', async () => {
    const some = new SomeEndpoints();
    await some.begin(one, 4);
    const waiting = (['fresh', 'waited', 'by hand'] as const).map((origin) => some.admit(one, origin));
    some.alone.does((state) => state.close());
    expect(await Promise.all(waiting)).toEqual(Array.from({ length: 3 }, () => ({ kind: 'full', why: 'full' })));
    expect(await some.told(one, 'by hand')).toBe('full');
    expect(await some.told(keyOf('another'))).toBe('granted');
  });

  test('idle endpoints are forgotten, and the least recently used of too many, but none in use', async () => {
    const some = new SomeEndpoints({ maxEndpoints: 10, forgetAfterMs: 1_000 });
    await some.begun(keyOf('in use'));
    for (let name = 0; name < 50; name += 1) await some.once(keyOf(`${name}`), 'quick', 1);
    expect(some.endpoints.figures().endpoints).toBe(10);
    await some.clock.runFor(2_000);
    for (let times = 0; times < 10; times += 1) await some.once(one, 'quick', 1);
    expect(some.endpoints.figures().endpoints).toBe(2);
    expect(some.endpoints.isHung(keyOf('in use').endpoint)).toBe(true);
  });
});

type Waiter = { origin: WaitingOrigin };

function waitingFor(origins: readonly WaitingOrigin[]) {
  const waiting = new WaitingDeliveries<Waiter>();
  for (const origin of origins) waiting.add({ origin });
  return waiting;
}

function inServedOrder(waiting: WaitingDeliveries<Waiter>, count: number): Waiter[] {
  return Array.from({ length: count }, () => {
    const waiter = waiting.next();
    if (waiter === undefined) throw new Error('nobody waits');
    waiting.delete(waiter);
    return waiter;
  });
}

describe('waiting', () => {
  test('gives fresh ones and those from the room every other place while both wait, and by hand goes first', () => {
    const waiting = waitingFor(['waited', 'waited', 'waited', 'fresh', 'fresh', 'by hand', 'fresh', 'fresh', 'waited']);
    const origins = inServedOrder(waiting, 9).map(({ origin }) => origin);
    expect(origins).toEqual(['by hand', 'fresh', 'waited', 'fresh', 'waited', 'fresh', 'waited', 'fresh', 'waited']);
    expect(waiting.next()).toBeUndefined();
  });

  test('gives the places to those that wait where the others do not', () => {
    expect(inServedOrder(waitingFor(['waited', 'waited']), 2)).toHaveLength(2);
    expect(inServedOrder(waitingFor(['fresh', 'fresh']), 2)).toHaveLength(2);
  });
});
