import { randomUUID } from 'node:crypto';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import type { Redis } from '@waybell/runtime/redis';

/**
 * Notes in Redis which process holds which message. A live process removes its notes, also after a lost connection; so notes that stay
 * are of processes that crashed while they held the message.
 */
export type Deaths = {
  /**
   * Notes that this process holds these messages. Resolves with the number of notes of other processes for each; undefined if Redis
   * does not answer. Never rejects.
   */
  hold(names: readonly string[]): Promise<readonly (number | undefined)[]>;
  /** Removes the notes of this process. */
  letGo(names: readonly string[]): void;
};

const PREFIX = 'waybell:in-hand:';
/** Exceeds the longest restart delay of any supervisor. */
const TTL_MS = 3_600_000;
const RETRY_MS = 1_000;
/** Limit of notes to remove once Redis is back; beyond it the oldest stay until they expire. */
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
      // The script returns a number for each key.
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
    // Removes the notes of one turn of the event loop together.
    queueMicrotask(() => void this.#takeBack());
  }

  /** Removes the notes; retries until it succeeds, so that no note of a live process counts as a crash. */
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
