import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';

const one = keyOf('one');

describe('room', () => {
  test('is for twice the window of an endpoint that answers, and none while a window of those that waited is in hand', async () => {
    const some = new SomeEndpoints();
    expect(some.endpoints.demand(one)).toEqual({ rows: 8 });
    const ends = await some.begin(one, 4);
    for (let row = 0; row < 3; row += 1) void some.admit(one, 'waited');
    expect(some.endpoints.demand(one)).toEqual({ rows: 5 });
    void some.admit(one, 'waited');
    expect(some.endpoints.demand(one)).toEqual({ rows: 0 });
    await settled();
    expect(some.notified).toEqual([]);
    ends[0]?.('quick');
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
    expect(some.endpoints.demand(one).rows).toBeGreaterThan(0);
  });

  test('is for 64 at most', async () => {
    const some = new SomeEndpoints();
    await some.grow(one);
    expect(some.endpoints.demand(one)).toEqual({ rows: 64 });
  });

  test('of a hung endpoint is for its next probe, when that may begin', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'hung', 500);
    expect(some.endpoints.demand(one)).toEqual({ rows: 0, askAt: 1_000 });
    await some.clock.runFor(500);
    expect(some.endpoints.demand(one)).toEqual({ rows: 1 });
    const end = await some.begun(one, 'waited');
    expect(some.endpoints.demand(one)).toEqual({ rows: 0, askAt: 2_000 });
    end('quick');
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
    // The window was halved.
    expect(some.endpoints.demand(one)).toEqual({ rows: 4 });
  });

  test('of one that others found to hang is asked for at once, and after a quarter of that time', async () => {
    const some = new SomeEndpoints({ slots: 10 });
    some.knownHung(one, 45_000);
    expect(some.endpoints.probeSlots()).toBe(1);
    expect(some.endpoints.demand(one)).toEqual({ rows: 1 });
    await some.begun(one, 'waited');
    expect(some.endpoints.probeSlots()).toBe(0);
    expect(some.endpoints.demand(one)).toEqual({ rows: 0, askAt: 15_000 });
    // The probe is under way, and no other may begin beside it: a pause more, as its end is told.
    await some.clock.runFor(15_000);
    expect(some.endpoints.demand(one)).toEqual({ rows: 0, askAt: 30_000 });
  });

  test('is told to each that was told that there is none in hand, when a request has ended', async () => {
    const some = new SomeEndpoints({ maxInHandEach: 1 });
    const ends = await some.begin(one, 4);
    void some.admit(one);
    expect(await some.told(one)).toBe('full');
    await settled();
    expect(some.notified).toEqual([]);
    ends[0]?.('quick');
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
  });

  test('of a share is told in turn to as many as there are places, and to the next where none makes use of it', async () => {
    const some = new SomeEndpoints({ slots: 10 });
    const end = await some.begun(some.knownHung(keyOf('blocker')));
    const keys = ['a', 'b', 'c'].map((name) => some.knownHung(keyOf(name, { account: name })));
    for (const key of keys) expect(some.endpoints.demand(key)).toEqual({ rows: 0, lacksSlot: true });
    end('hung');
    await settled();
    expect(some.notified).toEqual(['a a']);
    const [a, b, c] = keys;
    // The probe would overtake the third endpoint.
    expect(await some.told(b ?? one)).toBe('hung');
    expect(some.endpoints.demand(a ?? one)).toEqual({ rows: 1 });
    await some.clock.runFor(50);
    expect(some.notified).toEqual(['a a', 'b b']);
    expect(some.endpoints.demand(b ?? one)).toEqual({ rows: 1 });
    await some.begun(b ?? one, 'waited');
    await some.clock.runFor(1_000);
    expect(some.notified).toHaveLength(2);
    expect(some.endpoints.demand(c ?? one)).toEqual({ rows: 0, lacksSlot: true });
  });

  test('of a share is kept for the probe that was told of it, for as long as its room takes to be read', async () => {
    const some = new SomeEndpoints({ slots: 10, shares: { hung: 0.1, new: 0.1, slow: 0.1 } });
    const end = await some.begun(some.knownHung(keyOf('blocker')));
    const hung = some.knownHung(keyOf('hung', { account: 'hung' }));
    expect(some.endpoints.demand(hung)).toEqual({ rows: 0, lacksSlot: true });
    end('hung');
    await settled();
    const fresh = keyOf('fresh', { account: 'fresh' });
    expect(await some.told(fresh)).toBe('waits');
    await some.begun(hung, 'waited');
    expect(some.endpoints.figures().slots).toMatchObject({ hung: 1, new: 0 });
  });

  test('of a host is told when what hung there has ended', async () => {
    const some = new SomeEndpoints({ slots: 80, shares: { hung: 0.5, new: 0.8, slow: 0.9 } });
    const [end] = await Promise.all(
      Array.from({ length: 5 }, (_, path) => some.begun(some.knownHung(keyOf(`host/${path}`)))),
    );
    const more = some.knownHung(keyOf('host/more'));
    expect(some.endpoints.demand(more)).toEqual({ rows: 0, lacksSlot: true });
    end?.('hung');
    await settled();
    expect(some.notified).toEqual([more.endpoint]);
  });
});
