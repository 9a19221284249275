import { setTimeout as sleep } from 'node:timers/promises';

/** Each look costs the process that is measured. */
const LOOK_EVERY_MS = 500;

/** Looks until `figure` has come to `least`; resolves with the milliseconds that took, from where it was at `from`. */
export async function timeBetween(
  figure: () => Promise<number>,
  { from, least, limitMs }: { from: number; least: number; limitMs: number },
): Promise<number> {
  const deadline = performance.now() + limitMs;
  let beganAt = Number.NaN;
  let first = 0;
  for (; performance.now() < deadline; await sleep(LOOK_EVERY_MS)) {
    const now = await figure();
    if (Number.isNaN(beganAt) && now >= from) [beganAt, first] = [performance.now(), now];
    // Counts the time until `from` only: the check comes late.
    if (now >= least) return ((performance.now() - beganAt) * (least - from)) / (now - first);
  }
  throw new Error(`${least} were not reached within ${limitMs} ms`);
}
