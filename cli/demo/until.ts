import { setTimeout as pause } from 'node:timers/promises';

const LOOK_EVERY_MS = 50;
/** With the default schedule it takes ten seconds; with longer delays it is not waited for. */
const LONGEST_MS = 60_000;

/** Whether it came true in time. Rejects when the signal comes first. */
export async function until(isTrue: () => boolean | Promise<boolean>, signal: AbortSignal): Promise<boolean> {
  const deadline = Date.now() + LONGEST_MS;
  while (!(await isTrue())) {
    if (Date.now() > deadline) return false;
    await pause(LOOK_EVERY_MS, undefined, { signal });
  }
  return true;
}
