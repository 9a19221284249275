import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { ResponseSpeed, EndpointKey, Admission, Admit, TooMuch, RequestOrigin } from '../flow/endpoint.ts';
import { Endpoints, type EndpointsOptions } from '../flow/endpoints.ts';

/** `name`: the path, or `host/path`. */
export function keyOf(name: string, what: Partial<EndpointKey> = {}): EndpointKey {
  const account = what.account ?? 'one';
  const host = name.includes('/') ? name.slice(0, name.indexOf('/')) : `${name}.example`;
  return { account, host, endpoint: `${account} ${name}`, ...what };
}

type End = (speed: ResponseSpeed, tooMuch?: TooMuch) => void;

export const ENDPOINTS = {
  slots: 1_024,
  shares: { hung: 0.1, new: 0.2, slow: 0.5 },
  maxSize: 64,
  slowMs: 800,
  maxWaitMs: 1_000,
  maxInHandEach: 64,
  maxInHand: 2_048,
  maxEndpoints: 100_000,
  forgetAfterMs: 3_600_000,
};

/** Endpoints without rooms: what they cause is carried out as `Drain` does. `onCapacity`: called where a room has capacity. */
export class EndpointsAlone {
  readonly state: Endpoints;
  readonly #clock: Clock;
  readonly #onCapacity: (endpoint: string) => void;
  #timer: (Timer & { at: number }) | undefined;

  constructor(what: EndpointsOptions & { clock: Clock; onCapacity: (endpoint: string) => void }) {
    this.#clock = what.clock;
    this.#onCapacity = what.onCapacity;
    this.state = new Endpoints({
      ...what,
      end: (request, ended) => this.does((state) => state.answered(request, ended)),
    });
  }

  readonly admit: Admit = (key, origin, onAdmitted) => {
    const admission = this.does((state) => state.ask(key, origin, onAdmitted));
    if (admission !== undefined) onAdmitted(admission);
  };

  /** Applies an input, and carries out what it causes. */
  does<T>(input: (state: Endpoints) => T): T {
    const result = input(this.state);
    queueMicrotask(() => {
      const { told, capacity } = this.state.effects;
      for (const { waiter, admission } of told.splice(0)) waiter.onAdmitted(admission);
      for (const endpoint of capacity.splice(0)) this.#onCapacity(endpoint);
    });
    const { nextAt } = this.state;
    if (nextAt < (this.#timer?.at ?? Infinity)) {
      this.#timer?.[Symbol.dispose]();
      const timer = this.#clock.after(nextAt - this.#clock.now(), () => {
        this.#timer = undefined;
        this.does((state) => state.tick());
      });
      this.#timer = Object.assign(timer, { at: nextAt });
    }
    return result;
  }
}

/** Endpoints by a turned clock, and helpers for tests. */
export class SomeEndpoints {
  readonly clock = new TurnedClock();
  /** Endpoints whose room was notified of a place. */
  readonly notified: string[] = [];
  readonly alone: EndpointsAlone;
  readonly #hungElsewhere = new Map<string, number>();

  constructor(what: Partial<EndpointsOptions & { onCapacity: (endpoint: string) => void; share: number }> = {}) {
    this.alone = new EndpointsAlone({
      clock: this.clock,
      ...ENDPOINTS,
      maxEndpoints: 1_000,
      onCapacity: (endpoint) => this.notified.push(endpoint),
      ...what,
    });
    Object.assign(this.endpoints.others, { share: what.share ?? 1, hungSince: this.#hungElsewhere });
  }

  get endpoints(): Endpoints {
    return this.alone.state;
  }

  demand(key: Omit<EndpointKey, 'host'>): ReturnType<Endpoints['demand']> {
    return this.alone.does((state) => state.demand(key));
  }

  probeSoon(endpoint: string): void {
    this.alone.does((state) => state.probeSoon(endpoint));
  }

  /** Has others find that an endpoint hangs. */
  knownHung(key: EndpointKey, forMs = 0): EndpointKey {
    this.#hungElsewhere.set(key.endpoint, this.clock.now() - forMs);
    return key;
  }

  admit(key: EndpointKey, origin: RequestOrigin = 'fresh'): Promise<Admission> {
    return new Promise((resolve) => this.alone.admit(key, origin, resolve));
  }

  /** The admission that is given at once, or `waits`. */
  async told(
    key: EndpointKey,
    origin: RequestOrigin = 'fresh',
  ): Promise<'granted' | 'full' | 'hung' | 'busy' | 'waits'> {
    const admission = await Promise.race([this.admit(key, origin), soon()]);
    if (admission === undefined) return 'waits';
    return admission.kind === 'granted' ? 'granted' : admission.why;
  }

  /** Begins as many requests as begin at once. */
  async begin(key: EndpointKey, count: number): Promise<End[]> {
    const ends: End[] = [];
    for (let begun = 0; begun < count; begun += 1) ends.push(await this.begun(key));
    return ends;
  }

  /** Begins a request, which must be able to begin at once. Returns what ends it. */
  async begun(key: EndpointKey, origin: RequestOrigin = 'fresh'): Promise<End> {
    const admission = await Promise.race([this.admit(key, origin), soon()]);
    if (admission?.kind !== 'granted') throw new Error(`${key.endpoint}: ${admission?.why ?? 'waits'}`);
    return (speed, tooMuch) => admission.end(speed, tooMuch);
  }

  /** Makes one request and ends it after `ms`. */
  async once(key: EndpointKey, speed: ResponseSpeed, ms = 10, origin: RequestOrigin = 'fresh'): Promise<void> {
    const end = await this.begun(key, origin);
    await this.clock.runFor(ms);
    end(speed);
  }

  /** Grows the window of an endpoint as far as it can. */
  async grow(key: EndpointKey, rounds = 200): Promise<void> {
    for (let round = 0; round < rounds; round += 1) {
      const ends: End[] = [];
      const { rows } = this.demand(key);
      for (let begun = 0; begun < rows / 2; begun += 1) ends.push(await this.begun(key));
      await this.clock.runFor(1);
      for (const end of ends) end('quick');
    }
  }
}

async function soon(): Promise<undefined> {
  for (let turn = 0; turn < 5; turn += 1) await Promise.resolve();
}
