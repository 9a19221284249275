import { Redis } from 'ioredis';
import pg from 'pg';
import { createClient } from 'redis';
import { postgresStore } from '../postgres.ts';
import { redisStore } from '../redis.ts';
import type { Store, StoreTimes } from '../store.ts';

export const kinds = ['ioredis', 'node-redis', 'postgres'] as const;
export type StoreKind = (typeof kinds)[number];

/** A store as integrators open it, with the client of this name. */
export async function openStore(
  kind: StoreKind,
  url: string,
  times: StoreTimes,
): Promise<{ store: Store; close: () => Promise<unknown> }> {
  if (kind === 'postgres') {
    const pool = new pg.Pool({ connectionString: url, max: 4 });
    return { store: postgresStore(pool, times), close: () => pool.end() };
  }
  if (kind === 'ioredis') {
    const redis = new Redis(url);
    const store = redisStore({ command: ([name, ...rest]) => redis.call(name, ...rest), ...times });
    return { store, close: () => redis.quit() };
  }
  const client = createClient({ url });
  await client.connect();
  return {
    store: redisStore({ command: (words) => client.sendCommand(words), ...times }),
    close: () => client.close(),
  };
}
