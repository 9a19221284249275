import { describe, expect, test } from '@jest/globals';
import { settled } from '@waybell/runtime/turned-clock';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';
import type { ResponseSpeed, Admission } from './endpoint.ts';

const one = keyOf('one');

function endOf(admission: Admission, speed: ResponseSpeed = 'quick'): void {
  if (admission.kind === 'granted') admission.end(speed);
  else throw new Error(admission.why);
}

describe('an endpoint', () => {
  test('that is new has four requests at once, and one while half of the places of the unproven are used', async () => {
    const some = new SomeEndpoints({ slots: 100 });
    await some.begin(keyOf('a', { account: 'a' }), 4);
    expect(await some.told(keyOf('a', { account: 'a' }))).toBe('waits');
    for (const account of ['b', 'c']) await some.begin(keyOf(account, { account }), 4);
    const late = keyOf('late', { account: 'late' });
    await some.begin(late, 1);
    expect(await some.told(late)).toBe('waits');
  });

  test('that is new has one request at once where its account holds its eighth of the unproven', async () => {
    const some = new SomeEndpoints({ slots: 200 });
    for (const name of ['a', 'b']) await some.begin(keyOf(name), 4);
    await some.begin(keyOf('c'), 1);
    expect(await some.told(keyOf('c'))).toBe('waits');
    await some.begin(keyOf('others', { account: 'two' }), 4);
  });

  test('that is silent for longer than is slow is hung, since the request began', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'quick');
    await some.begun(one);
    await some.clock.runFor(800);
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
    await some.clock.runFor(1);
    expect(some.endpoints.hungSince(one.endpoint)).toBe(10);
    expect(some.endpoints.figures().hung).toBe(1);
  });

  test('that usually takes long is hung when it takes three times as long', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'quick', 900);
    await some.once(one, 'slow', 900);
    await some.begun(one);
    await some.clock.runFor(2_700);
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
    await some.clock.runFor(1);
    expect(some.endpoints.isHung(one.endpoint)).toBe(true);
  });

  test('that answers late is not hung, whatever it says', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'slow', 60_000);
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
  });

  test('that is hung is trusted again, window and all, as soon as anything begun since is answered', async () => {
    const some = new SomeEndpoints();
    await some.grow(one);
    const [early, ...late] = await some.begin(one, 2);
    await some.clock.runFor(1_001);
    expect(await some.told(one)).toBe('granted');
    early?.('hung');
    expect(some.endpoints.isHung(one.endpoint)).toBe(true);
    late[0]?.('slow');
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
    expect(some.demand(one).rows).toBeGreaterThanOrEqual(32);
  });

  test('is not trusted for an answer to what was begun before it hung', async () => {
    const some = new SomeEndpoints();
    const early = await some.begun(one);
    await some.clock.runFor(100);
    const late = await some.begun(one);
    await some.clock.runFor(500);
    late('hung');
    early('quick');
    expect(some.endpoints.hungSince(one.endpoint)).toBe(100);
  });

  test('stays hung, since later, where something begun later yet is silent too', async () => {
    const some = new SomeEndpoints();
    const early = await some.begun(one);
    await some.clock.runFor(100);
    await some.begun(one);
    await some.clock.runFor(1_200);
    expect(some.endpoints.hungSince(one.endpoint)).toBe(0);
    early('quick');
    expect(some.endpoints.hungSince(one.endpoint)).toBe(100);
  });

  test('where one payload hangs goes on with the others after a second, and what is stuck takes none of its window', async () => {
    const some = new SomeEndpoints({ slots: 100 });
    for (const account of ['a', 'b', 'c']) await some.begin(keyOf(account, { account }), 4);
    // The window of this endpoint is one.
    const stuck = await some.begun(one);
    const waited = some.admit(one, 'waited');
    const byHand = some.admit(one, 'by hand');
    await some.clock.runFor(1_001);
    expect(some.endpoints.figures().slots.hung).toBe(1);
    endOf(await byHand);
    endOf(await waited);
    expect(await some.told(one)).toBe('granted');
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
    await some.clock.runFor(2_000);
    stuck('hung');
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
  });

  test('that a process before found hung begins as hung, and is probed at once', async () => {
    const some = new SomeEndpoints();
    const known = some.knownHung(keyOf('known'));
    expect(some.demand(known)).toEqual({ rows: 1 });
    expect(some.endpoints.isHung(known.endpoint)).toBe(true);
    expect(await some.told(known, 'waited')).toBe('granted');
    expect(some.endpoints.figures().slots.hung).toBe(1);
    expect(await some.told(known)).toBe('hung');
  });

  test('that hangs is not probed by a suspect, which would hold up other suspects for as long', async () => {
    const some = new SomeEndpoints();
    const known = some.knownHung(keyOf('known'));
    expect(await some.told(known, 'suspect')).toBe('hung');
    expect(await some.told(known)).toBe('granted');
    expect(await some.told(keyOf('other'), 'suspect')).toBe('granted');
  });
});

describe('an admission', () => {
  test('is told at once where it is decided at once, and else after what decided it', async () => {
    const some = new SomeEndpoints();
    const told: string[] = [];
    const [first] = await some.begin(one, 3);
    for (const name of ['fourth', 'waits']) {
      some.alone.admit(one, 'fresh', ({ kind }) => told.push(`${name} ${kind}`));
    }
    expect(told).toEqual(['fourth granted']);
    first?.('quick');
    expect(told).toHaveLength(1);
    await settled();
    expect(told).toEqual(['fourth granted', 'waits granted']);
  });
});

describe('an idle endpoint', () => {
  test('keeps no timer', async () => {
    const some = new SomeEndpoints();
    const ends = await some.begin(one, 2);
    expect(some.clock.nextAt()).toBe(801);
    for (const end of ends) end('quick');
    await some.clock.runFor(801);
    expect(some.clock.nextAt()).toBeUndefined();
  });
});

describe('probes', () => {
  /** Times at which requests to an endpoint that never answers began, in seconds since it hung, if one always waits. */
  async function probesOf(seconds: number, some = new SomeEndpoints()) {
    const began: number[] = [];
    const go = async () => {
      for (;;) {
        const admission = await some.admit(one, 'by hand');
        if (admission.kind === 'full') return;
        began.push(some.clock.now() / 1_000);
        void some.clock.sleep(60_000).then(() => admission.end('hung'));
      }
    };
    void go();
    await some.clock.runFor(seconds * 1_000);
    return { some, began: began.slice(4) };
  }

  test('begin a quarter of the time after another for which the endpoint has been hung, at least 1 s and at most 60 s', async () => {
    const { began } = await probesOf(1_200);
    expect(began[0]).toBeCloseTo(1.001);
    for (const [place, at] of began.entries()) {
      const pause = at - (began[place - 1] ?? 0);
      expect(pause).toBeGreaterThanOrEqual(1);
      // oxlint-disable-next-line waybell/no-elapsed-time -- by a clock that is turned
      expect(pause).toBeLessThanOrEqual(60.1);
      expect(pause).toBeCloseTo(Math.min(Math.max(at / 4, 1), 60), 1);
    }
    expect(began.length).toBeGreaterThan(20);
  });

  test('of one endpoint are one at a time while half of the share of the hung is used', async () => {
    const { began } = await probesOf(100, new SomeEndpoints({ slots: 40 }));
    expect(began.length).toBeGreaterThan(1);
    const some = new SomeEndpoints({ slots: 20 });
    await some.once(one, 'hung', 3_000);
    expect(await some.told(one)).toBe('granted');
    await some.clock.runFor(10_000);
    expect(await some.told(one)).toBe('hung');
    // A quarter of the 13 s for which it has hung.
    expect(some.demand(one)).toEqual({ rows: 0, askAt: some.clock.now() + 3_250 });
  });

  test('begin at once when it is said so, and its room is told', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'hung', 3_000);
    await some.begun(one);
    const demand = some.demand(one);
    expect(demand).toEqual({ rows: 0, askAt: 4_000 });
    some.probeSoon(one.endpoint);
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
    expect(some.demand(one)).toEqual({ rows: 1 });
    expect(await some.told(one)).toBe('granted');
    expect(await some.told(one)).toBe('hung');
  });

  test('that wait for their share go to accounts in turn, and to the endpoints of an account in turn', async () => {
    const some = new SomeEndpoints({ slots: 10 });
    const keys = ['a1', 'a2', 'a3', 'b1', 'c1'].map((name) =>
      some.knownHung(keyOf(name, { account: name.slice(0, 1) })),
    );
    const blocker = await some.begun(some.knownHung(keyOf('blocker', { account: 'x' })));
    const order: string[] = [];
    for (const key of keys) {
      void some.admit(key, 'by hand').then(async (admission) => {
        order.push(key.endpoint);
        await some.clock.sleep(100);
        if (admission.kind === 'granted') admission.end('hung');
      });
    }
    blocker('hung');
    await some.clock.runFor(900);
    expect(order).toEqual(['a a1', 'b b1', 'c c1', 'a a2', 'a a3']);
  });
});

describe('accounts and hosts', () => {
  test('hold an eighth of the places of the unproven while three quarters of them are used', async () => {
    const some = new SomeEndpoints({ slots: 320 });
    // 48 of the 64 slots for unproven endpoints may be lent.
    let granted = 0;
    for (let name = 0; name < 100; name += 1) if ((await some.told(keyOf(`${name}`))) === 'granted') granted += 1;
    expect(granted).toBe(48);
    const others: string[] = [];
    for (let name = 0; name < 10; name += 1) others.push(await some.told(keyOf(`${name}`, { account: 'two' })));
    expect(others.filter((told) => told === 'granted')).toHaveLength(8);
  });

  test('hold an eighth of the places of the hung while three quarters of them are used', async () => {
    const some = new SomeEndpoints({ slots: 320 });
    const granted = async (account: string) => {
      let count = 0;
      for (let name = 0; name < 100; name += 1) {
        if ((await some.told(some.knownHung(keyOf(`${name}`, { account })))) === 'granted') count += 1;
      }
      return count;
    };
    expect(await granted('one')).toBe(24);
    expect(await granted('two')).toBe(4);
  });

  test('one account has an eighth of the slots at one host, and the first request of each proven endpoint beside', async () => {
    const some = new SomeEndpoints({ slots: 64 });
    const keys = Array.from({ length: 6 }, (_, number) => keyOf(`host/${number}`));
    for (const key of keys) await some.once(key, 'quick');
    const at = async () => {
      const told: string[] = [];
      for (const key of keys.slice(0, 4)) for (let each = 0; each < 4; each += 1) told.push(await some.told(key));
      return told.filter((each) => each === 'granted').length;
    };
    expect(await at()).toBe(4 + 8);
    expect(await some.told(keys[4] ?? one)).toBe('granted');
    expect(await some.told(keyOf('host/new'))).toBe('granted');
    expect(await some.told(keyOf('host/1', { account: 'two' }))).toBe('granted');
  });

  test('where half of that hangs at a host, no probe begins there, and no second request of a new endpoint', async () => {
    const some = new SomeEndpoints({ slots: 640, shares: { hung: 0.5, new: 0.8, slow: 0.9 } });
    await some.once(keyOf('host/proven'), 'quick');
    await some.once(keyOf('host/slow', { account: 'two' }), 'slow', 2_000);
    for (let number = 0; number < 40; number += 1) await some.begun(some.knownHung(keyOf(`host/${number}`)));
    const probe = some.knownHung(keyOf('host/40'));
    expect(some.demand(probe)).toEqual({ rows: 0, lacksSlot: true });
    expect(await some.told(probe)).toBe('hung');
    await some.begin(keyOf('host/proven'), 3);
    await some.begun(keyOf('host/new'));
    expect(await some.told(keyOf('host/new'))).toBe('waits');
    await some.begun(some.knownHung(keyOf('another/1')));
  });

  test('good news about a host helps a new account there, and bad news hurts none', async () => {
    const some = new SomeEndpoints();
    const trustOf = async (account: string) => {
      const before = some.endpoints.figures().slots;
      const end = await some.begun(keyOf('host/x', { account }));
      const after = some.endpoints.figures().slots;
      end('quick');
      return (['hung', 'new', 'slow', 'quick'] as const).find(
        (endpointClass) => after[endpointClass] > before[endpointClass],
      );
    };
    expect(await trustOf('first')).toBe('new');
    expect(await trustOf('second')).toBe('quick');
    await some.once(keyOf('host/x'), 'hung');
    expect(await trustOf('third')).toBe('new');
    expect(await trustOf('first')).toBe('quick');
    await some.begun(keyOf('host/x', { account: 'never answered' }));
    await some.clock.runFor(1_001);
    expect(await trustOf('fourth')).toBe('new');
  });
});

describe('room', () => {
  test('is for twice the window of an endpoint that answers, and none while a window of those that waited is in hand', async () => {
    const some = new SomeEndpoints();
    expect(some.demand(one)).toEqual({ rows: 8 });
    const ends = await some.begin(one, 4);
    for (let row = 0; row < 3; row += 1) void some.admit(one, 'waited');
    expect(some.demand(one)).toEqual({ rows: 5 });
    void some.admit(one, 'waited');
    expect(some.demand(one)).toEqual({ rows: 0 });
    await settled();
    expect(some.notified).toEqual([]);
    ends[0]?.('quick');
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
    expect(some.demand(one).rows).toBeGreaterThan(0);
  });

  test('is for 64 at most', async () => {
    const some = new SomeEndpoints();
    await some.grow(one);
    expect(some.demand(one)).toEqual({ rows: 64 });
  });

  test('of a hung endpoint is for its next probe, when that may begin', async () => {
    const some = new SomeEndpoints();
    await some.once(one, 'hung', 500);
    expect(some.demand(one)).toEqual({ rows: 0, askAt: 1_000 });
    await some.clock.runFor(500);
    expect(some.demand(one)).toEqual({ rows: 1 });
    const end = await some.begun(one, 'waited');
    expect(some.demand(one)).toEqual({ rows: 0, askAt: 2_000 });
    end('quick');
    await settled();
    expect(some.notified).toEqual([one.endpoint]);
    // The window was halved.
    expect(some.demand(one)).toEqual({ rows: 4 });
  });

  test('of one that others found to hang is asked for at once, and after a quarter of that time', async () => {
    const some = new SomeEndpoints({ slots: 10 });
    some.knownHung(one, 45_000);
    expect(some.endpoints.probeSlots()).toBe(1);
    expect(some.demand(one)).toEqual({ rows: 1 });
    await some.begun(one, 'waited');
    expect(some.endpoints.probeSlots()).toBe(0);
    expect(some.demand(one)).toEqual({ rows: 0, askAt: 15_000 });
    // The probe is under way, and no other may begin beside it: a pause more, as its end is told.
    await some.clock.runFor(15_000);
    expect(some.demand(one)).toEqual({ rows: 0, askAt: 30_000 });
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

  test('is none once a request falls silent, though its endpoint was to be looked at later', async () => {
    const some = new SomeEndpoints();
    const [end] = await some.begin(one, 1);
    end?.('quick', { askedMs: 60_000 });
    some.demand(one);
    await some.clock.runFor(1);
    await some.begun(one, 'retry');
    await some.clock.runFor(1_000);
    expect(some.endpoints.isHung(one.endpoint)).toBe(true);
  });

  test('of one that answered here is as it was found, unless another process found it to hang a second later or more', async () => {
    const some = new SomeEndpoints();
    const claimed = (hungSince: number) => some.alone.does((state) => state.claimed(one, hungSince));
    await some.once(one, 'quick');
    await some.clock.runFor(5_000);
    claimed(1_000);
    expect(some.endpoints.isHung(one.endpoint)).toBe(false);
    claimed(1_001);
    expect(some.endpoints.hungSince(one.endpoint)).toBe(1_001);
  });

  test('is told to a room whose rows are being put once they are put', async () => {
    const some = new SomeEndpoints({ maxInHandEach: 1 });
    const begin = () => some.alone.does((state) => state.beginPut(one.endpoint));
    const end = async (put: ReturnType<typeof begin>) => {
      some.alone.does((state) => state.endPut(put));
      await settled();
    };
    const ends = await some.begin(one, 4);
    void some.admit(one);
    expect(await some.told(one)).toBe('full');
    const puts = [begin(), begin()];
    ends[0]?.('quick');
    await end(puts[0]);
    expect(some.notified).toEqual([]);
    await end(puts[1]);
    expect(some.notified).toEqual([one.endpoint]);
    await end(begin());
    expect(some.notified).toHaveLength(1);
  });

  test('of a share is told in turn to as many as there are places, and to the next where none makes use of it', async () => {
    const some = new SomeEndpoints({ slots: 10 });
    const end = await some.begun(some.knownHung(keyOf('blocker')));
    const keys = ['a', 'b', 'c'].map((name) => some.knownHung(keyOf(name, { account: name })));
    for (const key of keys) expect(some.demand(key)).toEqual({ rows: 0, lacksSlot: true });
    end('hung');
    await settled();
    expect(some.notified).toEqual(['a a']);
    const [a, b, c] = keys;
    // The probe would overtake the third endpoint.
    expect(await some.told(b ?? one)).toBe('hung');
    expect(some.demand(a ?? one)).toEqual({ rows: 1 });
    await some.clock.runFor(50);
    expect(some.notified).toEqual(['a a', 'b b']);
    expect(some.demand(b ?? one)).toEqual({ rows: 1 });
    await some.begun(b ?? one, 'waited');
    await some.clock.runFor(1_000);
    expect(some.notified).toHaveLength(2);
    expect(some.demand(c ?? one)).toEqual({ rows: 0, lacksSlot: true });
  });

  test('of a share is kept for the probe that was told of it, for as long as its room takes to be read', async () => {
    const some = new SomeEndpoints({ slots: 10, shares: { hung: 0.1, new: 0.1, slow: 0.1 } });
    const end = await some.begun(some.knownHung(keyOf('blocker')));
    const hung = some.knownHung(keyOf('hung', { account: 'hung' }));
    expect(some.demand(hung)).toEqual({ rows: 0, lacksSlot: true });
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
    expect(some.demand(more)).toEqual({ rows: 0, lacksSlot: true });
    end?.('hung');
    await settled();
    expect(some.notified).toEqual([more.endpoint]);
  });
});
