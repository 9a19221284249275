import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { keyOf, SomeEndpoints } from '../testing/endpoints.ts';
import type { ResponseSpeed, Demand, RequestOrigin } from './endpoint.ts';
import type { Endpoints } from './endpoints.ts';

const SLOTS = 40;
const SMALL = { slots: SLOTS, maxSize: 8, maxInHandEach: 5, maxInHand: 30 };
const DURATION_MS = { quick: 20, slow: 2_000, hung: 3_000 };

const endpoint = fc.record({ account: fc.nat({ max: 7 }), host: fc.nat({ max: 2 }), path: fc.nat({ max: 1 }) });
const request = fc.record({
  endpoint,
  pauseMs: fc.constantFrom(0, 0, 0, 1, 20, 1_500),
  speed: fc.constantFrom<ResponseSpeed>('quick', 'quick', 'quick', 'slow', 'hung'),
  origin: fc.constantFrom<RequestOrigin>('fresh', 'fresh', 'waited', 'by hand'),
  isKnownHung: fc.constantFrom(false, false, true),
});
type Request = typeof request extends fc.Arbitrary<infer R> ? R : never;

function keyOfRequest({ endpoint: { account, host, path } }: Pick<Request, 'endpoint'>) {
  return keyOf(`host ${host}/${path}`, { account: `${account}` });
}

/** The key of a request's endpoint, which others may have found to hang. */
function keyIn(some: SomeEndpoints, { endpoint: of, isKnownHung }: Pick<Request, 'endpoint' | 'isKnownHung'>) {
  const key = keyOfRequest({ endpoint: of });
  return isKnownHung ? some.knownHung(key) : key;
}

type Told = { number: number; kind: 'granted' | 'full' | 'hung' | 'busy'; waitedMs: number };

/** Lets the requests come, each at its time; resolves when all have ended. `look` is called at every change. */
async function happen(requests: Request[], look: (endpoints: Endpoints) => void = () => undefined) {
  const some = new SomeEndpoints(SMALL);
  const { clock, endpoints } = some;
  const told: Told[] = [];
  const come = async ({ speed, origin, ...which }: Request, number: number) => {
    const at = clock.now();
    const admission = await some.admit(keyIn(some, which), origin);
    look(endpoints);
    told.push({ number, kind: admission.kind === 'granted' ? 'granted' : admission.why, waitedMs: clock.now() - at });
    if (admission.kind === 'full') return;
    await clock.sleep(DURATION_MS[speed]);
    admission.end(speed);
    look(endpoints);
  };
  const all: Promise<void>[] = [];
  for (const [number, each] of requests.entries()) {
    await clock.runFor(each.pauseMs);
    all.push(come(each, number));
  }
  await clock.runFor(24 * 3_600_000);
  return { told, endpoints };
}

const law = (check: (requests: Request[]) => Promise<void>) =>
  fc.assert(fc.asyncProperty(fc.array(request, { minLength: 30, maxLength: 150 }), check), { numRuns: 60 });

function assert(isTrue: boolean, what: string): void {
  if (!isTrue) throw new Error(`not so: ${what}`);
}

describe('whichever endpoints are to be called, and whatever they answer,', () => {
  test('each kind holds no more than its share of the slots, and all no more than there are', async () => {
    await expect(
      law(async (requests) => {
        await happen(requests, (endpoints) => {
          const { hung, new: fresh, slow, quick } = endpoints.figures().slots;
          assert(hung <= SLOTS * 0.1, `${hung} hung`);
          assert(hung + fresh <= SLOTS * 0.2, `${hung + fresh} unproven`);
          assert(hung + fresh + slow <= SLOTS * 0.5, `${hung + fresh + slow} slow or unproven`);
          assert(hung + fresh + slow + quick <= SLOTS, 'all within the slots');
        });
      }),
    ).resolves.toBeUndefined();
  });

  test('every delivery is granted a request or told why not, and nothing is held in the end', async () => {
    await expect(
      law(async (requests) => {
        const { told, endpoints } = await happen(requests);
        assert(told.length === requests.length, `${requests.length - told.length} still wait`);
        const { slots, inHand } = endpoints.figures();
        assert(inHand === 0 && Object.values(slots).every((held) => held === 0), 'nothing is held');
      }),
    ).resolves.toBeUndefined();
  });

  test('those of one kind for one endpoint are served in the order in which they came', async () => {
    await expect(
      law(async (requests) => {
        const { told } = await happen(requests);
        const granted = told.filter(({ kind }) => kind === 'granted').map(({ number }) => number);
        const byKind = Map.groupBy(granted, (number) => {
          const each = requests[number];
          return each === undefined ? '' : `${each.origin} ${keyOfRequest(each).endpoint}`;
        });
        for (const [kind, numbers] of byKind) {
          assert(
            numbers.every((number, place) => place === 0 || number > (numbers[place - 1] ?? 0)),
            `${kind}: ${numbers.join()}`,
          );
        }
      }),
    ).resolves.toBeUndefined();
  });

  test('a fresh one waits for no longer than its patience unless it lacks nothing but a slot, and by hand is never told that there is no room', async () => {
    await expect(
      law(async (requests) => {
        const { told } = await happen(requests);
        for (const { number, kind, waitedMs } of told) {
          const origin = requests[number]?.origin;
          if (origin === 'by hand') assert(kind === 'granted', `by hand: ${kind}`);
          if (origin === 'fresh' && kind !== 'granted') assert(waitedMs <= 1_000, `told after ${waitedMs}`);
        }
      }),
    ).resolves.toBeUndefined();
  });

  test('an endpoint that answers is called at once, while slots suffice', async () => {
    await expect(
      law(async (requests) => {
        const some = new SomeEndpoints({ slots: 1_024 });
        const ours = ['host 0', 'host 1'].map((host) => keyOf(`${host}/ours`, { account: '0' }));
        for (const key of ours) await some.once(key, 'quick');
        const come = async ({ speed, origin, ...which }: Request) => {
          const admission = await some.admit(keyIn(some, which), origin);
          // Slots suffice: others are kept from falling silent while they are trusted.
          await some.clock.sleep(DURATION_MS[speed]);
          if (admission.kind === 'granted') admission.end(speed);
        };
        for (const each of requests) {
          void come({ ...each, speed: each.endpoint.path === 0 ? each.speed : 'hung' });
          await some.clock.runFor(each.pauseMs);
          for (const key of ours) await some.once(key, 'quick', 1);
        }
      }),
    ).resolves.toBeUndefined();
  });
});

/** Takes rows out of an endpoint's room when notified of a place, and asks again at the time it was given. */
class Taker {
  left: number;
  readonly #some: SomeEndpoints;
  readonly #key: ReturnType<typeof keyOf>;
  readonly #answersFrom: number;
  #brought = 0;
  #asksAt = Infinity;

  constructor(some: SomeEndpoints, what: { key: ReturnType<typeof keyOf>; rows: number; answersFrom: number }) {
    this.#some = some;
    this.#key = what.key;
    this.left = what.rows;
    this.#answersFrom = what.answersFrom;
  }

  ask(): void {
    const { host: _, ...key } = this.#key;
    const { rows, askAt }: Demand = this.#some.demand(key);
    for (let row = 0; row < rows && this.#brought < this.left; row += 1) void this.#bring();
    if (askAt === undefined || askAt >= this.#asksAt) return;
    this.#asksAt = askAt;
    this.#some.clock.after(askAt - this.#some.clock.now(), () => {
      this.#asksAt = Infinity;
      this.ask();
    });
  }

  async #bring(): Promise<void> {
    const { clock } = this.#some;
    this.#brought += 1;
    await clock.sleep(5);
    const admission = await this.#some.admit(this.#key, 'waited');
    if (admission.kind === 'granted') {
      const answers = clock.now() >= this.#answersFrom;
      await clock.sleep(answers ? 10 : 3_000);
      admission.end(answers ? 'quick' : 'hung');
      if (answers) this.left -= 1;
    }
    this.#brought -= 1;
    if (this.left > 0) this.ask();
  }
}

describe('whoever takes from the room of an endpoint', () => {
  const waiting = fc.record({ endpoint, rows: fc.integer({ min: 1, max: 30 }), answersFrom: fc.nat({ max: 300_000 }) });
  test('gets rid of them all soon after their endpoints answer, by asking only when told to', async () => {
    await expect(
      fc.assert(
        fc.asyncProperty(fc.array(waiting, { minLength: 1, maxLength: 48 }), fc.boolean(), async (all, isKnownHung) => {
          const takers = new Map<string, Taker>();
          const some = new SomeEndpoints({ ...SMALL, onCapacity: (name) => takers.get(name)?.ask() });
          for (const each of all) {
            const key = keyIn(some, { ...each, isKnownHung });
            if (!takers.has(key.endpoint)) takers.set(key.endpoint, new Taker(some, { key, ...each }));
          }
          for (const taker of takers.values()) taker.ask();
          await some.clock.runFor(1_000_000);
          for (const [name, { left }] of takers) assert(left === 0, `${left} left of ${name}`);
          const { slots, inHand } = some.endpoints.figures();
          assert(inHand === 0 && Object.values(slots).every((held) => held === 0), 'nothing is held');
        }),
        { numRuns: 100 },
      ),
    ).resolves.toBeUndefined();
  });
});
