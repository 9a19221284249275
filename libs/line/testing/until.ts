import { setTimeout as sleep } from 'node:timers/promises';

/** Waits until `look` finds something (not undefined, not false). The limit only ends a test that will never pass. */
export async function until<T>(
  what: string,
  look: () => T | undefined | false | Promise<T | undefined | false>,
  limitMs = 60_000,
): Promise<T> {
  const deadline = Date.now() + limitMs;
  for (;;) {
    const found = await look();
    if (found !== undefined && found !== false) return found;
    if (Date.now() > deadline) throw new Error(`waited ${limitMs} ms in vain until ${what}`);
    await sleep(10);
  }
}
