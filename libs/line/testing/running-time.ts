const LOOK_MS = 10;
const LONGEST_GAP_MS = 100;

/**
 * The time that passes while this process runs, for bounds on what the process itself takes: a machine on which it
 * stands still must not fail a test. What it computes counts in full, and of a longer wait as much as it was awake for.
 */
export class RunningTime implements Disposable {
  readonly #timer = setInterval(() => this.#look(), LOOK_MS);
  #lookedAt = performance.now();
  #cpu = process.cpuUsage();
  #ms = 0;

  ms(): number {
    this.#look();
    return this.#ms;
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    const now = performance.now();
    const { user, system } = process.cpuUsage(this.#cpu);
    const gapMs = now - this.#lookedAt;
    // Threads of the process compute side by side: no more than the gap.
    this.#ms += Math.min(gapMs, Math.max(LONGEST_GAP_MS, (user + system) / 1_000));
    this.#lookedAt = now;
    this.#cpu = process.cpuUsage();
  }
}
