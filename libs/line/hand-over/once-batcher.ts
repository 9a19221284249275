import type { Mark, Once } from '../once.ts';
import type { Input } from './state.ts';

export type OnceBatcherOptions = { once: Once | undefined; ttlMs: number; apply: (input: Input) => void };

/** Recalls and remembers for the hand-over. */
export class OnceBatcher {
  readonly #options: OnceBatcherOptions;
  #members: number[] = [];
  #keys: string[] = [];
  #isRecalling = false;

  constructor(options: OnceBatcherOptions) {
    this.#options = options;
  }

  /** Runs one recall at a time: requests that come meanwhile go into the next one together, and stay together from there on. */
  recall({ members, keys }: { members: readonly number[]; keys: readonly string[] }): void {
    this.#members.push(...members);
    this.#keys.push(...keys);
    if (!this.#isRecalling) void this.#recallAll();
  }

  async #recallAll(): Promise<void> {
    const { once, apply } = this.#options;
    this.#isRecalling = true;
    while (this.#members.length > 0) {
      const [members, keys] = [this.#members, this.#keys];
      [this.#members, this.#keys] = [[], []];
      apply({ kind: 'recalled', members, known: (await once?.recall(keys)) ?? [] });
    }
    this.#isRecalling = false;
  }

  async remember({ members, marks }: { members: readonly number[]; marks: readonly Mark[] }): Promise<void> {
    const { once, ttlMs, apply } = this.#options;
    await once?.remember(marks, ttlMs);
    apply({ kind: 'remembered', members });
  }
}
