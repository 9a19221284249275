import { connectRedis, type Redis } from '../redis.ts';
import { until } from './until.ts';
import { PATIENT_MS, silentLog } from './patience.ts';

/** A connection that is there; a machine that stands still does not look like a Redis that is away. */
export async function readyRedis(url: string): Promise<Redis> {
  const redis = connectRedis({ url, timeoutMs: PATIENT_MS, log: silentLog });
  await until('Redis is there', () => redis.status === 'ready');
  return redis;
}
