/** The entry `@waybell/receiver/redis`: a store in Redis. */
import { randomUUID } from 'node:crypto';
import { requireNumbers, requireTimers } from './require-options.ts';
import { KEEP_MS, LEASE_MS, takenOver, type Begun, type Store, type StoreTimes } from './store.ts';

export type RedisStoreOptions = StoreTimes & {
  /**
   * Sends one command and resolves with its reply. ioredis: `([name, ...rest]) => redis.call(name, ...rest)`; node-redis:
   * `(words) => redis.sendCommand(words)`.
   */
  command: (words: [string, ...string[]]) => Promise<unknown>;
  /** Prefix of the keys; defaults to `waybell:received:`. */
  prefix?: string;
};

const DONE = 'done';
/** Change a key that still has this lease. */
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end`;
const FAIL = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;
/** A lease that is over is gone. */
const FINISH = `local known = redis.call('GET', KEYS[1])
if known and known ~= ARGV[1] and known ~= '${DONE}' then return false end
return redis.call('SET', KEYS[1], '${DONE}', 'PX', ARGV[2])`;

/** A store that processes share, one key for each notification. */
export function redisStore(options: RedisStoreOptions): Store {
  const { command, prefix = 'waybell:received:', leaseMs = LEASE_MS, keepMs = KEEP_MS } = options;
  requireTimers({ leaseMs });
  requireNumbers({ keepMs });
  const run = (script: string, ...[id, ...values]: [string, ...string[]]): Promise<unknown> =>
    command(['EVAL', script, '1', prefix + id, ...values]);
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      const key = prefix + id;
      const lease = randomUUID();
      if (isSet(await command(['SET', key, lease, 'NX', 'PX', wholeMs(leaseMs)]))) return { kind: 'new', lease };
      return String(await command(['GET', key])) === DONE ? { kind: 'done' } : { kind: 'in_progress' };
    },
    async renew(id, lease) {
      await run(RENEW, id, lease, wholeMs(leaseMs));
    },
    async finish(id, lease) {
      if (!isSet(await run(FINISH, id, lease, wholeMs(keepMs)))) throw takenOver(id);
    },
    async fail(id, lease) {
      await run(FAIL, id, lease);
    },
  };
}

/** Whether Redis set a key. Throws for any other reply: a `command` that resolves with nothing would have all handled twice. */
function isSet(reply: unknown): boolean {
  if (reply === null) return false;
  // A client may be set to reply with bytes.
  if (reply === 'OK' || (reply instanceof Uint8Array && Buffer.from(reply).toString() === 'OK')) return true;
  throw new TypeError(`"command" must resolve with the reply of Redis, OK or null, not ${typeof reply}`);
}

function wholeMs(timeMs: number): string {
  return String(Math.ceil(timeMs));
}
