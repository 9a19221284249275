import type { Once } from '../once.ts';
import type { MemoryLink } from './memory-link.ts';

/** Marks of the processes of a line, in memory: a process may die before it remembers. */
export class MemoryOnce {
  readonly #now: () => number;
  readonly #remembered = new Map<string, { fingerprint: string; until: number }>();

  constructor(now: () => number) {
    this.#now = now;
  }

  /** Returns the marks as the process of that link sees them. */
  of(link: MemoryLink): Once {
    return {
      recall: async (keys) => keys.map((key) => this.#recalled(key)),
      remember: async (marks, ttlMs) => {
        for (const { key, fingerprint } of marks) {
          if (!link.survives({ what: 'remember', key })) return new Promise(() => undefined);
          this.#remembered.set(key, { fingerprint, until: this.#now() + ttlMs });
        }
      },
    };
  }

  #recalled(key: string): string | undefined {
    const mark = this.#remembered.get(key);
    return mark !== undefined && mark.until > this.#now() ? mark.fingerprint : undefined;
  }
}
