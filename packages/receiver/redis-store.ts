import { randomUUID } from 'node:crypto';
import { KEEP_MS, LEASE_MS, type Begun, type Store, type StoreTimes } from './store.ts';

export type RedisStoreOptions = StoreTimes & {
  /**
   * Sends one command. ioredis: `([name, ...rest]) => redis.call(name, ...rest)`; node-redis: `(words) =>
   * redis.sendCommand(words)`.
   */
  command: (words: [string, ...string[]]) => Promise<unknown>;
  /** What keys begin with; `waybell:received:` unless given. */
  prefix?: string;
};

const DONE = 'done';
/** Does something to a key that still has this lease. */
const RENEW = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('PEXPIRE', KEYS[1], ARGV[2]) end`;
const FINISH = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('SET', KEYS[1], '${DONE}', 'PX', ARGV[2]) end`;
const FAIL = `if redis.call('GET', KEYS[1]) == ARGV[1] then redis.call('DEL', KEYS[1]) end`;

/** A store that processes share, one key for each notification. */
export function redisStore(options: RedisStoreOptions): Store {
  const { command, prefix = 'waybell:received:', leaseMs = LEASE_MS, keepMs = KEEP_MS } = options;
  const ifStill = async (script: string, ...[id, ...values]: [string, ...string[]]): Promise<void> => {
    await command(['EVAL', script, '1', prefix + id, ...values]);
  };
  return {
    leaseMs,
    async begin(id): Promise<Begun> {
      const key = prefix + id;
      const lease = randomUUID();
      const isOurs = (await command(['SET', key, lease, 'NX', 'PX', String(leaseMs)])) !== null;
      if (isOurs) return { kind: 'new', lease };
      return String(await command(['GET', key])) === DONE ? { kind: 'done' } : { kind: 'in_progress' };
    },
    renew: (id, lease) => ifStill(RENEW, id, lease, String(leaseMs)),
    finish: (id, lease) => ifStill(FINISH, id, lease, String(keepMs)),
    fail: (id, lease) => ifStill(FAIL, id, lease),
  };
}
