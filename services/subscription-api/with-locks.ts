import { setTimeout as delay } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import { sqlStateOf } from '@waybell/runtime/postgres';
import { QueryFailedError } from 'typeorm';

/** How long a statement waits for a lock: all that comes behind it waits too, and so no service waits longer. */
export const LOCK_WAIT_MS = 500;
/** Within this all that reads for long has ended; a transaction that somebody forgot has not. */
const LIMIT_MS = 300_000;
const PAUSES_MS = { least: 200, most: 2_000 };
const NO_LOCK = new Set(['55P03', '40P01']);

/** Does it again and again while it cannot have its locks at once. It is to leave nothing behind where it fails. */
export async function withLocks<T>(log: Pick<Log, 'info'>, work: () => Promise<T>): Promise<T> {
  const until = Date.now() + LIMIT_MS;
  for (let isFirst = true; ; isFirst = false) {
    try {
      return await work();
    } catch (error) {
      const cause = error instanceof QueryFailedError ? error.driverError : error;
      if (!NO_LOCK.has(sqlStateOf(cause) ?? '')) throw error;
      if (Date.now() >= until) {
        const message =
          'a lock could not be had: a transaction has been open for minutes (see pg_stat_activity); what was applied stays';
        throw new Error(message, { cause: error });
      }
      if (isFirst) log.info({ waitingFor: 'locks', reason: cause.message }, 'migration.waiting');
    }
    await delay(PAUSES_MS.least + Math.random() * (PAUSES_MS.most - PAUSES_MS.least));
  }
}
