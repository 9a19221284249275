import { monitorEventLoopDelay } from 'node:perf_hooks';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

const NS_PER_MS = 1_000_000;
const OWN_LOOK_MS = 10;

/** Watches how long this process and services stand still, which is the machine's doing: nobody can be in time meanwhile. */
export class Standstill implements Disposable {
  readonly #services: readonly SupervisedProcess[];
  readonly #own = monitorEventLoopDelay({ resolution: OWN_LOOK_MS });

  private constructor(services: readonly SupervisedProcess[]) {
    this.#services = services;
    this.#own.enable();
  }

  static async watch(services: readonly SupervisedProcess[]): Promise<Standstill> {
    const standstill = new Standstill(services);
    // What was before is forgotten when it is read.
    await standstill.longestMs();
    return standstill;
  }

  /** The longest standstill of any of them since it was last asked for: where the machine stands still, all do at once. */
  async longestMs(): Promise<number> {
    const theirs = await Promise.all(this.#services.map(longestOf));
    // In between looks the loop is left alone, which counts as well.
    const own = Math.max(0, this.#own.max / NS_PER_MS - OWN_LOOK_MS);
    this.#own.reset();
    return Math.max(own, ...theirs);
  }

  [Symbol.dispose](): void {
    this.#own.disable();
  }
}

async function longestOf({ spec }: SupervisedProcess): Promise<number> {
  const metrics = await (await fetch(`${spec.health}/metrics`)).text();
  const seconds = (which: string) =>
    Number(new RegExp(`^nodejs_eventloop_lag_${which}_seconds\\S* (\\S+)$`, 'm').exec(metrics)?.[1]);
  // The shortest is what lies between two looks.
  const longestMs = (seconds('max') - seconds('min')) * 1_000;
  if (Number.isNaN(longestMs)) throw new Error(`${spec.name} does not say how long it stood still`);
  return longestMs;
}
