import { setTimeout as sleep } from 'node:timers/promises';

/**
 * Waits until `look` finds something (not undefined, not false) and resolves with it. The limit is there to end a test
 * that will never pass, not to measure: it is generous.
 */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 240_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    // Before it looks: who stood still until the limit has not looked since.
    const isLast = Date.now() > deadline;
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (isLast) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await sleep(20);
  }
}
