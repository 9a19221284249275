import { systemClock, type Clock } from '@waybell/runtime/clock';

/** The result of one statement. `slow`: it exceeded its limit; `error` is the one for Postgres being away. */
export type WriteResult = { kind: 'written' } | { kind: 'refused'; reason: string } | { kind: 'slow'; error: Error };

/** A record that alone is too slow this often, while another is not, is itself at fault. */
const SLOW_TIMES = 3;
const TOO_SLOW = `takes longer than a statement may, alone, ${SLOW_TIMES} times`;

/**
 * Writes records in batches of a size that Postgres has time for. Finds a record that is refused or too slow by halving its batch
 * until the record is alone; the others are written on the way.
 */
export class AdaptiveWriter<R> {
  readonly #write: (records: readonly R[]) => Promise<WriteResult>;
  readonly #clock: Clock;
  readonly #size: BatchSize;
  #batchesWritten = 0;

  /** `timeoutMs`: the limit of one statement. */
  constructor(
    write: (records: readonly R[]) => Promise<WriteResult>,
    { timeoutMs, clock = systemClock }: { timeoutMs: number; clock?: Clock },
  ) {
    this.#write = write;
    this.#clock = clock;
    this.#size = new BatchSize(timeoutMs);
  }

  /** Writes records. Resolves with why each was not written, undefined if it was. Throws if none can be: Postgres is away. */
  reasonsOf(records: readonly R[]): Promise<(string | undefined)[]> {
    return this.#reasonsOfSome(records, records);
  }

  async #reasonsOfSome(some: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    const reasons: (string | undefined)[] = [];
    while (reasons.length < some.length) {
      const batch = some.slice(reasons.length, reasons.length + this.#size.most);
      reasons.push(...(await this.#reasonsOfBatch(batch, all)));
    }
    return reasons;
  }

  async #reasonsOfBatch(batch: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    const written = await this.#try(batch);
    if (written.kind === 'written') return batch.map(() => undefined);
    if (written.kind === 'slow') return this.#reasonsOfSlow(batch, all);
    if (batch.length === 1) return [written.reason];
    const middle = Math.ceil(batch.length / 2);
    const reasons = await this.#reasonsOfBatch(batch.slice(0, middle), all);
    return [...reasons, ...(await this.#reasonsOfBatch(batch.slice(middle), all))];
  }

  /** Writes a batch that was too slow again, in smaller ones, unless nothing can be written. */
  async #reasonsOfSlow([first, ...others]: readonly R[], all: readonly R[]): Promise<(string | undefined)[]> {
    if (first === undefined) return [];
    if (others.length === 0) return [await this.#reasonOfSlow(first, all)];
    this.#size.wasTooSlow(1 + others.length);
    // A Postgres that hangs must not be tried with each record: one alone shows it.
    const alone = await this.#try([first]);
    if (alone.kind === 'slow') await this.#assertWriting(anyOf(others), alone.error);
    const reason = alone.kind === 'slow' ? await this.#reasonOfSlow(first, all) : reasonOf(alone);
    return [reason, ...(await this.#reasonsOfSome(others, all))];
  }

  /** Finds out whether a record that was too slow alone is so again while others are not. */
  async #reasonOfSlow(record: R, all: readonly R[]): Promise<string | undefined> {
    const before = this.#batchesWritten;
    let error: Error | undefined;
    for (let times = 1; times < SLOW_TIMES; times += 1) {
      const written = await this.#try([record]);
      if (written.kind !== 'slow') return reasonOf(written);
      error = written.error;
    }
    const others = all.filter((each) => each !== record);
    if (this.#batchesWritten === before) await this.#assertWriting(anyOf(others), error);
    return TOO_SLOW;
  }

  /** Throws unless Postgres writes. Writing a record that is there already counts as writing. */
  async #assertWriting(other: R | undefined, error: Error | undefined): Promise<void> {
    if (other === undefined || (await this.#try([other])).kind === 'slow') throw error;
  }

  async #try(batch: readonly R[]): Promise<WriteResult> {
    const beganAt = this.#clock.now();
    const written = await this.#write(batch);
    if (written.kind === 'written') {
      this.#batchesWritten += 1;
      this.#size.wrote(batch.length, this.#clock.now() - beganAt);
    }
    return written;
  }
}

function reasonOf(written: Exclude<WriteResult, { kind: 'slow' }>): string | undefined {
  return written.kind === 'refused' ? written.reason : undefined;
}

/** Not always the same one, which may itself be too slow. */
function anyOf<R>(records: readonly R[]): R | undefined {
  return records[Math.floor(Math.random() * records.length)];
}

/** Share of the limit within which a batch is quick: after one that was slower, batches do not grow. */
const QUICK_SHARE = 1 / 2;
const GROWTH = 1.25;

/** Size of a batch: halves after one that was too slow, and grows again while there is time. */
class BatchSize {
  readonly #quickMs: number;
  #most = Infinity;

  /** `timeoutMs`: the limit of a batch. */
  constructor(timeoutMs: number) {
    this.#quickMs = timeoutMs * QUICK_SHARE;
  }

  get most(): number {
    return this.#most;
  }

  wrote(records: number, tookMs: number): void {
    if (records >= this.#most && tookMs <= this.#quickMs) this.#most = Math.ceil(this.#most * GROWTH);
  }

  wasTooSlow(records: number): void {
    this.#most = Math.max(1, Math.floor(Math.min(records, this.#most) / 2));
  }
}
