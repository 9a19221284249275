import { setTimeout as sleep } from 'node:timers/promises';
import { withCauses } from './error-codes.ts';
import type { Log } from './log.ts';

const FIRST_DELAY_MS = 100;
const LONGEST_DELAY_MS = 2_000;

/** Whether a process works, and if not, what it waits for. */
export class Readiness {
  readonly #sources: (() => string[])[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Adds a part of the process that can say what it waits for; nothing, when it works. */
  watch(source: () => string[]): void {
    this.#sources.push(source);
  }

  /** Each once; where one part says more of what others only name, as in `clock: here …`, only that. */
  waitingFor(): string[] {
    const all = [...new Set(this.#sources.flatMap((source) => source()))];
    return all.filter((one) => !all.some((other) => other.startsWith(`${one}: `)));
  }

  /** Resolves once `probe` does; until then the process waits for `what`, and says so. */
  async until(what: string, probe: () => Promise<unknown>): Promise<void> {
    let isThere = false;
    this.watch(() => (isThere ? [] : [what]));
    for (let delayMs = FIRST_DELAY_MS; !isThere; delayMs = Math.min(delayMs * 2, LONGEST_DELAY_MS)) {
      try {
        await probe();
        isThere = true;
      } catch (error) {
        this.#log.warn({ for: what, reason: withCauses(error).at(-1)?.message ?? String(error) }, 'process.waiting');
        await sleep(delayMs);
      }
    }
  }
}
