import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { TRUSTS } from './slots.ts';
import { Windows, type WindowsOptions } from './windows.ts';
import type { Ending } from './window.ts';

const SLOTS = 20;
const SHARES = { hung: 0.1, new: 0.2, slow: 0.5 };
const PATIENCE_MS = 100;

function someWindows(what: Partial<WindowsOptions> = {}) {
  const clock = new TurnedClock();
  const windows = new Windows({
    clock,
    slots: SLOTS,
    shares: SHARES,
    maxSize: 5,
    slowMs: 1_000,
    patienceMs: PATIENCE_MS,
    maxInHand: 30,
    maxOrigins: 100,
    forgetAfterMs: 60_000,
    ...what,
  });
  return { clock, windows };
}

const of = (origin: string, account = 'one') => ({ account, origin });

/** Has one request to the origin made, and ended so. */
async function once({ clock, windows }: ReturnType<typeof someWindows>, key: string, ending: Ending, ms = 10) {
  const entry = await windows.enter(of(key));
  if (entry.kind !== 'granted') throw new Error(`${key} got ${entry.lane}`);
  await clock.runFor(ms);
  entry.end(ending);
}

const request = fc.record({
  origin: fc.nat({ max: 12 }),
  pauseMs: fc.constantFrom(0, 0, 0, 1, 20, 1_500),
  ending: fc.constantFrom<Ending>('quick', 'quick', 'quick', 'slow', 'hung'),
});
const DURATION_MS = { quick: 20, slow: 2_000, hung: 3_000 };

type Told = { number: number; key: string; kind: 'granted' | 'busy' | 'hung'; waitedMs: number };

/** Lets the requests come, each at its time; resolves when all have ended. `look` is called at every change. */
async function happen(
  requests: { origin: number; pauseMs: number; ending: Ending }[],
  look: (windows: Windows) => void,
) {
  const { clock, windows } = someWindows();
  const told: Told[] = [];
  const come = async (number: number) => {
    const { origin, ending } = requests[number] ?? { origin: 0, ending: 'quick' };
    const [key, at] = [`origin ${origin}`, clock.now()];
    const entry = await windows.enter(of(key));
    look(windows);
    const kind = entry.kind === 'granted' ? 'granted' : entry.lane;
    told.push({ number, key, kind, waitedMs: clock.now() - at });
    if (entry.kind !== 'granted') return;
    await clock.sleep(DURATION_MS[ending]);
    entry.end(ending);
    look(windows);
  };
  const all: Promise<void>[] = [];
  for (const [number, { pauseMs }] of requests.entries()) {
    await clock.runFor(pauseMs);
    all.push(come(number));
  }
  await clock.runFor(3_600_000);
  await Promise.all(all);
  return { told, windows };
}

const law = (check: (requests: { origin: number; pauseMs: number; ending: Ending }[]) => Promise<void>) =>
  fc.assert(fc.asyncProperty(fc.array(request, { minLength: 30, maxLength: 150 }), check), { numRuns: 60 });

function assert(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

describe('whoever wants to be called, and whatever they answer,', () => {
  test('each kind holds no more than its share of the slots, and all no more than there are', async () => {
    await expect(
      law(async (requests) => {
        await happen(requests, (windows) => {
          const { hung, new: fresh, slow, quick } = windows.figures().slots;
          assert(hung <= SLOTS * SHARES.hung, `${hung} hung`);
          assert(hung + fresh <= SLOTS * SHARES.new, `${hung + fresh} unproven`);
          assert(hung + fresh + slow <= SLOTS * SHARES.slow, `${hung + fresh + slow} slow or unproven`);
          assert(hung + fresh + slow + quick <= SLOTS, 'all within the slots');
        });
      }),
    ).resolves.toBeUndefined();
  });

  test('everybody is granted a slot or put aside, and no slot is held in the end', async () => {
    await expect(
      law(async (requests) => {
        const { told, windows } = await happen(requests, () => undefined);
        assert(told.length === requests.length, `${requests.length - told.length} still wait`);
        const { slots, inHand } = windows.figures();
        assert(inHand === 0 && Object.values(slots).every((held) => held === 0), 'nothing is held');
      }),
    ).resolves.toBeUndefined();
  });

  test('those of one origin are served in the order in which they came', async () => {
    await expect(
      law(async (requests) => {
        const { told } = await happen(requests, () => undefined);
        const granted = Map.groupBy(told, ({ key, kind }) => `${kind === 'granted'} ${key}`);
        for (const [key, each] of granted) {
          if (!key.startsWith('true')) continue;
          const numbers = each.map(({ number }) => number);
          assert(
            numbers.every((number, place) => place === 0 || number > (numbers[place - 1] ?? 0)),
            `${key}: ${numbers.join()}`,
          );
        }
      }),
    ).resolves.toBeUndefined();
  });

  test('nobody waits in hand for an origin that hangs', async () => {
    await expect(
      law(async (requests) => {
        const { told } = await happen(requests, () => undefined);
        for (const { kind, waitedMs } of told) if (kind === 'hung') assert(waitedMs <= PATIENCE_MS, 'told at once');
      }),
    ).resolves.toBeUndefined();
  });
});

describe('Windows', () => {
  test('let a burst to a receiver that answers quickly wait in hand', async () => {
    const { clock, windows } = someWindows({ maxSize: 20, slots: 100 });
    await once({ clock, windows }, 'quick', 'quick', 2);
    const burst = Array.from({ length: 25 }, async () => {
      const entry = await windows.enter(of('quick'));
      if (entry.kind !== 'granted') return entry.lane;
      await clock.sleep(2);
      entry.end('quick');
      return 'granted';
    });
    await clock.runFor(100);
    expect(new Set(await Promise.all(burst))).toEqual(new Set(['granted']));
  });

  test('put aside what would wait for longer than their patience', async () => {
    const { clock, windows } = someWindows();
    await windows.enter(of('slow'));
    const second = windows.enter(of('slow'));
    await clock.runFor(PATIENCE_MS);
    expect(await second).toEqual({ kind: 'full', lane: 'busy' });
    expect(windows.countFull()).toBe(1);
  });

  test('put aside at once, as hung, what is for an origin that only times out', async () => {
    const all = someWindows();
    await once(all, 'hung', 'hung', 3_000);
    const probe = await all.windows.enter(of('hung'));
    expect(probe.kind).toBe('granted');
    expect(await all.windows.enter(of('hung'))).toEqual({ kind: 'full', lane: 'hung' });
  });

  test('put aside, as hung, what is for an origin that has fallen silent', async () => {
    const { clock, windows } = someWindows();
    await windows.enter(of('silent'));
    await clock.runFor(1_001);
    expect(await windows.enter(of('silent'))).toEqual({ kind: 'full', lane: 'hung' });
  });

  test('keep an origin that answers apart from those that hang, however many these are', async () => {
    const all = someWindows();
    await once(all, 'quick', 'quick');
    for (let number = 0; number < 50; number += 1) void all.windows.enter(of(`hung ${number}`));
    await settled();
    expect((await all.windows.enter(of('quick'))).kind).toBe('granted');
  });

  test('trust a new account at an origin that answers others quickly, and hold against it nothing that others suffer', async () => {
    const all = someWindows();
    const trustOf = async (account: string) => {
      const before = all.windows.figures().slots;
      const entry = await all.windows.enter(of('shared', account));
      const after = all.windows.figures().slots;
      if (entry.kind === 'granted') entry.end('quick');
      return TRUSTS.find((trust) => after[trust] > before[trust]);
    };
    expect(await trustOf('first')).toBe('new');
    expect(await trustOf('second')).toBe('quick');
    await once(all, 'shared', 'hung');
    expect(await trustOf('third')).toBe('new');
    expect(await trustOf('first')).toBe('quick');
    await all.windows.enter(of('shared', 'never answered'));
    await all.clock.runFor(1_001);
    expect(await trustOf('fourth')).toBe('new');
  });

  test('let those wait for whom nothing lacks but a slot, for as long as it takes', async () => {
    const all = someWindows({ slots: 1, shares: { hung: 1, new: 1, slow: 1 } });
    for (const key of ['a', 'b']) await once(all, key, 'quick');
    const first = await all.windows.enter(of('a'));
    const second = all.windows.enter(of('b'));
    await all.clock.runFor(10 * PATIENCE_MS);
    expect(all.windows.figures().inHand).toBe(1);
    if (first.kind === 'granted') first.end('quick');
    expect((await second).kind).toBe('granted');
  });

  test('say that there is room to an origin whose deliveries were put aside', async () => {
    const lanes: string[] = [];
    const { clock, windows } = someWindows({ onRoom: (lane) => lanes.push(lane) });
    const first = await windows.enter(of('one'));
    const second = windows.enter(of('one'));
    await clock.runFor(PATIENCE_MS);
    await second;
    expect(lanes).toEqual([]);
    if (first.kind === 'granted') first.end('quick');
    expect(lanes).toEqual(['busy']);
    expect(windows.countFull()).toBe(0);
  });

  test('let nobody wait once they are closed', async () => {
    const { windows } = someWindows();
    await windows.enter(of('one'));
    const waiting = windows.enter(of('one'));
    await settled();
    windows.close();
    expect(await waiting).toEqual({ kind: 'full', lane: 'busy' });
    expect(await windows.enter(of('one'))).toEqual({ kind: 'full', lane: 'busy' });
    expect((await windows.enter(of('another'))).kind).toBe('granted');
  });

  test('forget idle origins, and the least recently used of too many', async () => {
    const all = someWindows({ maxOrigins: 10, forgetAfterMs: 1_000 });
    for (let number = 0; number < 50; number += 1) await once(all, `origin ${number}`, 'quick', 1);
    expect(all.windows.figures().origins).toBe(10);
    await all.clock.runFor(2_000);
    for (let number = 0; number < 10; number += 1) await once(all, 'one', 'quick', 1);
    expect(all.windows.figures().origins).toBe(1);
  });
});
