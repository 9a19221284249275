import { setTimeout as sleep } from 'node:timers/promises';
import { backoffMs } from './backoff.ts';
import { withCauses } from './error-codes.ts';
import type { Log } from './log.ts';
import { gaugeOnDemand, type Metrics } from './metrics.ts';

const BACKOFF = { firstMs: 100, longestMs: 2_000 };

/** Tracks whether a process works, and if not, what it waits for. */
export class Readiness {
  readonly #sources: (() => string[])[] = [];
  readonly #log: Log;

  constructor(log: Log) {
    this.#log = log;
  }

  /** Adds a part of the process. `source` lists what the part waits for; nothing while it works. */
  watch(source: () => string[]): void {
    this.#sources.push(source);
  }

  /** Lists each thing once. If one part gives details (`clock: here …`) and others only the name, lists only the details. */
  waitingFor(): string[] {
    const all = [...new Set(this.#sources.flatMap((source) => source()))];
    return all.filter((one) => !all.some((other) => other.startsWith(`${one}: `)));
  }

  /** Resolves when `probe` does; until then the process waits for `what`. */
  async until(what: string, probe: () => Promise<unknown>): Promise<void> {
    let isThere = false;
    this.watch(() => (isThere ? [] : [what]));
    for (let failures = 1; !isThere; failures += 1) {
      try {
        await probe();
        isThere = true;
      } catch (error) {
        this.#log.warn({ for: what, reason: withCauses(error).at(-1)?.message ?? String(error) }, 'process.waiting');
        await sleep(backoffMs(BACKOFF, failures));
      }
    }
  }
}

/** Removes details, as of a clock or a policy: times in labels would make ever new series. */
const partNameOf = (waited: string): string => /^([^:(]+): /.exec(waited)?.[1] ?? waited;

/** Registers the answer of `/readyz` as metrics. */
export function watchReadiness(waitingFor: () => string[], metrics: Metrics): void {
  gaugeOnDemand(metrics, { name: 'waybell_ready', help: '1 while the process works, 0 while it waits' }, () => [
    { value: waitingFor().length === 0 ? 1 : 0 },
  ]);
  gaugeOnDemand(
    metrics,
    {
      name: 'waybell_waiting_for',
      help: '1 for each thing that the process waits for',
      labelNames: ['dependency'],
    },
    () => [...new Set(waitingFor().map(partNameOf))].map((dependency) => ({ labels: { dependency }, value: 1 })),
  );
}
