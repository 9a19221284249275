import { readFileSync } from 'node:fs';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

const LOOK_INTERVAL_MS = 500;

/** The most memory that any of these processes had resident while somebody watched, over restarts. */
export class PeakMemory implements Disposable {
  readonly #processes: () => readonly SupervisedProcess[];
  readonly #timer: NodeJS.Timeout;
  #kilobytes = 0;

  constructor(processes: () => readonly SupervisedProcess[]) {
    this.#processes = processes;
    this.#timer = setInterval(() => this.#look(), LOOK_INTERVAL_MS);
  }

  megabytes(): number {
    this.#look();
    return Math.round(this.#kilobytes / 1_024);
  }

  [Symbol.dispose](): void {
    clearInterval(this.#timer);
  }

  #look(): void {
    for (const { identity } of this.#processes()) {
      if (identity !== undefined) this.#kilobytes = Math.max(this.#kilobytes, peakKilobytes(identity.pid));
    }
  }
}

/** The kernel keeps the peak of a process that lives. */
function peakKilobytes(pid: number): number {
  try {
    return Number(/^VmHWM:\s+(\d+) kB$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1] ?? 0);
  } catch {
    return 0;
  }
}
