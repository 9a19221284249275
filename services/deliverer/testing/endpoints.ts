import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Ending, EndpointKey, Entry, TooMuch, Wish } from '../endpoints/endpoint.ts';
import { Endpoints } from '../endpoints/endpoints.ts';

/** `name`: the path, or `host/path`. */
export function keyOf(name: string, what: Partial<EndpointKey> = {}): EndpointKey {
  const account = what.account ?? 'one';
  const host = name.includes('/') ? name.slice(0, name.indexOf('/')) : `${name}.example`;
  return { account, host, endpoint: `${account} ${name}`, ...what };
}

type End = (ending: Ending, tooMuch?: TooMuch) => void;

/** Endpoints by a clock that is turned, and what tests do with them. */
export class SomeEndpoints {
  readonly clock = new TurnedClock();
  /** Endpoints of which it was said that there is room. */
  readonly words: string[] = [];
  readonly endpoints: Endpoints;

  constructor(what: Partial<ConstructorParameters<typeof Endpoints>[0]> = {}) {
    this.endpoints = new Endpoints({
      clock: this.clock,
      slots: 1_024,
      shares: { hung: 0.1, new: 0.2, slow: 0.5 },
      maxSize: 64,
      slowMs: 1_000,
      patienceMs: 1_000,
      maxInHandEach: 64,
      maxInHand: 2_048,
      maxEndpoints: 1_000,
      forgetAfterMs: 3_600_000,
      onRoom: (endpoint) => this.words.push(endpoint),
      ...what,
    });
  }

  enter(key: EndpointKey, wish: Wish = 'fresh'): Promise<Entry> {
    return this.endpoints.enter(key, wish);
  }

  /** What it is told at once, or that it waits. */
  async told(key: EndpointKey, wish: Wish = 'fresh'): Promise<'granted' | 'full' | 'hung' | 'busy' | 'waits'> {
    const entry = await Promise.race([this.enter(key, wish), soon()]);
    if (entry === undefined) return 'waits';
    return entry.kind === 'granted' ? 'granted' : entry.why;
  }

  /** Begins as many requests as begin at once. */
  async begin(key: EndpointKey, count: number): Promise<End[]> {
    const ends: End[] = [];
    for (let begun = 0; begun < count; begun += 1) ends.push(await this.begun(key));
    return ends;
  }

  /** Begins a request, which must be able to begin at once. Returns what ends it. */
  async begun(key: EndpointKey, wish: Wish = 'fresh'): Promise<End> {
    const entry = await Promise.race([this.enter(key, wish), soon()]);
    if (entry?.kind !== 'granted') throw new Error(`${key.endpoint}: ${entry?.why ?? 'waits'}`);
    return entry.end;
  }

  /** Has one request made, and ended so. */
  async once(key: EndpointKey, ending: Ending, ms = 10, wish: Wish = 'fresh'): Promise<void> {
    const end = await this.begun(key, wish);
    await this.clock.runFor(ms);
    end(ending);
  }

  /** Has it grow its window as far as it can. */
  async grow(key: EndpointKey, rounds = 200): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const ends: End[] = [];
      const { rows } = this.endpoints.room(key);
      for (let begun = 0; begun < rows / 2; begun += 1) ends.push(await this.begun(key));
      await this.clock.runFor(1);
      for (const end of ends) end('quick');
    }
  }
}

async function soon(): Promise<undefined> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}
