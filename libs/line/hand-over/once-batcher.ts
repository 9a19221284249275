import type { Mark, Once } from '../once.ts';
import type { Input } from './state.ts';

export type OnceBatcherOptions = { once: Once | undefined; ttlMs: number; apply: (input: Input) => void };

type ToRecall = { member: number; key: string };
type ToRemember = { member: number; mark: Mark };

/** Batches the recalls and remembers of one turn of the event loop. */
export class OnceBatcher {
  readonly #options: OnceBatcherOptions;
  #toRecall: ToRecall[] = [];
  #toRemember: ToRemember[] = [];
  #isTurnEnding = false;
  #isRecalling = false;

  constructor(options: OnceBatcherOptions) {
    this.#options = options;
  }

  recall(wanted: ToRecall): void {
    this.#toRecall.push(wanted);
    this.#endTurnSoon();
  }

  remember(wanted: ToRemember): void {
    this.#toRemember.push(wanted);
    this.#endTurnSoon();
  }

  #endTurnSoon(): void {
    if (this.#isTurnEnding) return;
    this.#isTurnEnding = true;
    queueMicrotask(() => this.#endTurn());
  }

  #endTurn(): void {
    this.#isTurnEnding = false;
    if (!this.#isRecalling) void this.#recallAll();
    if (this.#toRemember.length > 0) void this.#rememberAll();
  }

  /** Runs one recall at a time: requests that come meanwhile go into the next one together, and stay together from there on. */
  async #recallAll(): Promise<void> {
    const { once, apply } = this.#options;
    this.#isRecalling = true;
    while (this.#toRecall.length > 0) {
      const all = this.#toRecall;
      this.#toRecall = [];
      const known = (await once?.recall(all.map(({ key }) => key))) ?? [];
      all.forEach(({ member }, place) => apply({ kind: 'recalled', member, known: known[place] }));
    }
    this.#isRecalling = false;
  }

  async #rememberAll(): Promise<void> {
    const { once, ttlMs, apply } = this.#options;
    const all = this.#toRemember;
    this.#toRemember = [];
    await once?.remember(
      all.map(({ mark }) => mark),
      ttlMs,
    );
    for (const { member } of all) apply({ kind: 'remembered', member });
  }
}
