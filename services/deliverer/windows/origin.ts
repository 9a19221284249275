import { LRUCache } from 'lru-cache';
import type { WaitingLane } from '@waybell/line/topology';
import { Window, type Ending, type WindowLimits } from './window.ts';

/** Leave to make one request, to be ended once; or the lane in which to wait, unattempted. */
export type Entry = { kind: 'granted'; end: (ending: Ending) => void } | { kind: 'full'; lane: WaitingLane };

/** Where to send (scheme, host and port), and on whose account. */
export type OriginKey = { account: string; origin: string };

/** One account's endpoint at an origin: what it does is no matter of another's at the same host. */
export type Origin = {
  readonly host: Host;
  readonly window: Window;
  /** Deliveries in hand for it, first come, first served. */
  readonly waiting: Set<Waiter>;
  /** Where its deliveries were put since it had room last. */
  asideIn: WaitingLane | undefined;
  touchedAt: number;
};

/** What all accounts share at an origin: how it answered last, whoever asked, and when what is under way began. */
export type Host = { isQuick: boolean; readonly underWay: Set<{ beganAt: number }> };

/** A delivery that waits in hand for its turn. */
export type Waiter = {
  readonly origin: Origin;
  readonly since: number;
  deadline: number;
  /** With undefined where that takes too long. */
  readonly resolve: (entry: Entry | undefined) => void;
};

export type OriginsOptions = WindowLimits & {
  /** Origins remembered at most, beside those with something under way. */
  maxOrigins: number;
  /** Idle ones are forgotten after this long. */
  forgetAfterMs: number;
};

/** The origins that are remembered, the least recently used first. */
export class Origins {
  readonly #options: OriginsOptions;
  readonly #byKey = new Map<string, Origin>();
  readonly #hosts: LRUCache<string, Host>;

  constructor(options: OriginsOptions) {
    this.#options = options;
    this.#hosts = new LRUCache({ max: options.maxOrigins });
  }

  get count(): number {
    return this.#byKey.size;
  }

  countWhere(isCounted: (origin: Origin) => boolean): number {
    let count = 0;
    for (const origin of this.#byKey.values()) if (isCounted(origin)) count += 1;
    return count;
  }

  touch({ account, origin: name }: OriginKey, now: number): Origin {
    const key = `${account} ${name}`;
    const known = this.#byKey.get(key);
    const origin = known ?? this.#newOrigin(name, now);
    if (known !== undefined) this.#byKey.delete(key);
    this.#byKey.set(key, origin);
    origin.touchedAt = now;
    // Two at a time: one for the one that came, one to get ahead of those that came before.
    this.#forgetOldest(now);
    this.#forgetOldest(now);
    return origin;
  }

  /**
   * A newcomer is trusted where somebody else was answered quickly just now, and nobody waits for longer: a thousand
   * accounts may share one host.
   */
  #newOrigin(name: string, now: number): Origin {
    const host = this.#hosts.get(name) ?? { isQuick: false, underWay: new Set() };
    this.#hosts.set(name, host);
    const [oldest] = host.underWay;
    const isSilent = oldest !== undefined && now - oldest.beganAt > this.#options.slowMs;
    const window = new Window(this.#options, host.isQuick && !isSilent ? 'quick' : 'new');
    return { host, window, waiting: new Set(), asideIn: undefined, touchedAt: 0 };
  }

  #forgetOldest(now: number): void {
    for (const [key, origin] of this.#byKey) {
      const isSurplus = this.#byKey.size > this.#options.maxOrigins;
      if (!isSurplus && now - origin.touchedAt <= this.#options.forgetAfterMs) return;
      this.#byKey.delete(key);
      // One in use comes round again; it is not at the front for long.
      if (origin.window.out > 0 || origin.waiting.size > 0) this.#byKey.set(key, origin);
      return;
    }
  }
}
