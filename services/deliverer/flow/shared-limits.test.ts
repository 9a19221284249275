import { describe, expect, test } from '@jest/globals';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';
import { Window } from './window.ts';

const LIMITS = { maxSize: 64, slowMs: 1_000 };
const one = keyOf('one');
/** One of so many. */
const oneOf = (deliverers: number) => ({ share: 1 / deliverers });

describe('one of several deliverers', () => {
  test.each([
    [1, 4, 64],
    [2, 2, 32],
    [4, 1, 16],
    [20, 1, 3],
    [100, 1, 1],
  ])('of %i begins a new endpoint with %i requests, and has %i at most', async (deliverers, first, most) => {
    const some = new SomeEndpoints(oneOf(deliverers));
    await some.begin(one, first);
    expect(await some.told(one)).toBe('waits');
    expect(new Window(LIMITS, { size: LIMITS.maxSize, owner: { share: 1 / deliverers } }).size).toBe(most);
  });

  test('has the window of an endpoint whole whose room it has claimed, and its part of another', async () => {
    const claimed = keyOf('claimed');
    const some = new SomeEndpoints({ maxSize: 32, ...oneOf(4) });
    some.alone.does((state) => state.claimed(claimed, undefined));
    await some.grow(claimed);
    await some.grow(one);
    await some.begin(claimed, 32);
    await some.begin(one, 8);
    expect([await some.told(claimed), await some.told(one)]).toEqual(['waits', 'waits']);
  });

  test('gives up what is not its part any more as soon as others come, and has it again when they go', () => {
    const owner = { share: 1 };
    const window = new Window(LIMITS, { size: 64, owner });
    expect(window.size).toBe(64);
    owner.share = 1 / 16;
    expect(window.size).toBe(4);
    owner.share = 1;
    expect(window.size).toBe(64);
  });

  test('probes what hangs as many times less often, once a minute at least', async () => {
    const some = new SomeEndpoints(oneOf(20));
    await some.once(one, 'hung', 1_000);
    await some.clock.runFor(18_000);
    expect(await some.told(one)).toBe('hung');
    await some.clock.runFor(2_000);
    const end = await some.begun(one);
    await some.clock.runFor(60_000);
    end('hung');
    expect(await some.told(one)).toBe('granted');
  });

  test('has its part of what an account may have at one host', async () => {
    const some = new SomeEndpoints({ slots: 64, ...oneOf(2) });
    const keys = Array.from({ length: 6 }, (_, number) => keyOf(`host/${number}`));
    for (const key of keys) await some.once(key, 'quick');
    // The first request of each endpoint that has answered does not count.
    for (const key of keys) await some.begun(key);
    for (const key of keys.slice(0, 4)) await some.begun(key);
    expect(await some.told(keys[4] ?? one)).toBe('waits');
  });
});
