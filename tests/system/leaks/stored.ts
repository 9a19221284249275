import { Redis } from 'ioredis';
import type pg from 'pg';
import type { Saw } from './sightings.ts';

const TABLES = `
  select format('%I.%I', schemaname, relname) as name from pg_stat_user_tables
  where schemaname in ('waybell', 'delivery_log') order by name`;

/** Every row of every table, as a dump has it: bytes in hex. */
export async function readTables(postgres: pg.Pool): Promise<Saw[]> {
  const { rows: tables } = await postgres.query<{ name: string }>(TABLES);
  const dumps = tables.map(async ({ name }): Promise<Saw> => {
    const { rows } = await postgres.query<{ row: string }>(`select to_json(t)::text as row from ${name} t`);
    return { channel: 'store', place: name, text: rows.map(({ row }) => row).join('\n') };
  });
  return Promise.all(dumps);
}

/** Every key, and what it holds as far as Redis shows it in one line. */
export async function readRedis(url: string): Promise<Saw[]> {
  const redis = new Redis(url);
  try {
    const keys = await redis.keys('*');
    const values = await Promise.all(keys.map((key) => readKey(redis, key)));
    return [{ channel: 'store', place: 'redis', text: values.join('\n') }];
  } finally {
    redis.disconnect();
  }
}

async function readKey(redis: Redis, key: string): Promise<string> {
  const type = await redis.type(key);
  if (type === 'string') return `${key}: ${await redis.get(key)}`;
  if (type === 'hash') return `${key}: ${JSON.stringify(await redis.hgetall(key))}`;
  if (type === 'zset') return `${key}: ${(await redis.zrange(key, '0', '-1')).join()}`;
  if (type === 'set') return `${key}: ${(await redis.smembers(key)).join()}`;
  // Gone since, or of a kind that is not looked through yet.
  if (type === 'none') return key;
  throw new Error(`${key} is a ${type}: read it here too`);
}
