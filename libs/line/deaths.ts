import { randomUUID } from 'node:crypto';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';

/**
 * Notes of which process has which message in hand. A process that lives takes its notes back; those that stay are of processes that died with
 * it in hand. A connection that breaks leaves none.
 */
export type Deaths = {
  /**
   * This process has these in hand from now on. Resolves with how many others said so, of each, and never took it back;
   * undefined where that cannot be known now. Never rejects.
   */
  hold(names: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** They are in hand no more, and this process lives. */
  letGo(names: readonly string[]): void;
};

const PREFIX = 'waybell:in-hand:';
/** Longer than any supervisor waits before it starts again what died. */
const TTL_MS = 3_600_000;
const RETRY_MS = 1_000;
/** Notes to take back while Redis is away; of more, the oldest stay until their time is over. */
const MOST_TO_TAKE_BACK = 10_000;

const HOLD = `
local others = {}
for i, key in ipairs(KEYS) do
  redis.call('sadd', key, ARGV[1])
  redis.call('pexpire', key, ARGV[2])
  others[i] = redis.call('scard', key) - 1
end
return others`;
const LET_GO = `for i, key in ipairs(KEYS) do redis.call('srem', key, ARGV[1]) end`;

export function deathsInRedis(redis: Redis, { log }: { log: Log }): Deaths {
  return new Notes(redis, log);
}

class Notes implements Deaths {
  readonly #redis: Redis;
  readonly #process = randomUUID();
  readonly #complain: (error: unknown) => void;
  readonly #held = new Set<string>();
  readonly #toTakeBack = new Set<string>();
  #isTakingBack = false;

  constructor(redis: Redis, log: Log) {
    this.#redis = redis;
    this.#complain = throttledWarning(log, 'redis.away: what was lost with a connection may be taken for what kills');
  }

  async hold(names: readonly string[]): Promise<readonly (number | undefined)[]> {
    for (const name of names) {
      this.#held.add(name);
      this.#toTakeBack.delete(name);
    }
    try {
      // It answers with a number for each key.
      return (await this.#redis.eval(HOLD, names.length, ...keysOf(names), this.#process, TTL_MS)) as number[];
    } catch (error) {
      this.#complain(error);
      return names.map(() => undefined);
    }
  }

  letGo(names: readonly string[]): void {
    for (const name of names) {
      this.#held.delete(name);
      this.#toTakeBack.add(name);
    }
    for (const oldest of this.#toTakeBack) {
      if (this.#toTakeBack.size <= MOST_TO_TAKE_BACK) break;
      this.#toTakeBack.delete(oldest);
    }
    if (this.#isTakingBack || this.#toTakeBack.size === 0) return;
    this.#isTakingBack = true;
    // What one turn of the event loop lets go of is taken back together.
    queueMicrotask(() => void this.#takeBack());
  }

  /** What cannot be taken back now must not pass for a death later. */
  async #takeBack(): Promise<void> {
    const names = [...this.#toTakeBack];
    this.#toTakeBack.clear();
    try {
      if (names.length > 0) await this.#redis.eval(LET_GO, names.length, ...keysOf(names), this.#process);
      this.#isTakingBack = false;
      this.letGo([]);
    } catch (error) {
      this.#complain(error);
      for (const name of names) if (!this.#held.has(name)) this.#toTakeBack.add(name);
      setTimeout(() => void this.#takeBack(), RETRY_MS).unref();
    }
  }
}

const keysOf = (names: readonly string[]): string[] => names.map((name) => PREFIX + name);
