import type { Log } from '@waybell/runtime/log';

const EVERY_MS = 30_000;

/** Says in the log that something is begun, every so often that it still runs, and that it is done: none of it need be quick. */
export async function tellProgress<T>(
  log: Pick<Log, 'info'>,
  name: string,
  work: () => Promise<T>,
  everyMs = EVERY_MS,
): Promise<T> {
  const beganAt = performance.now();
  const seconds = () => Math.round((performance.now() - beganAt) / 1_000);
  log.info({ name }, 'migration.begun');
  const telling = setInterval(() => log.info({ name, seconds: seconds() }, 'migration.running'), everyMs);
  try {
    const result = await work();
    log.info({ name, seconds: seconds() }, 'migration.applied');
    return result;
  } finally {
    clearInterval(telling);
  }
}
