import type { Clock } from '@waybell/runtime/clock';
import type { Consumer } from '../broker/consumers.ts';
import type { Consuming } from '../broker/queue-consumer.ts';
import {
  newSourceId,
  type Message,
  type Outgoing,
  type Publication,
  type Rejection,
  type Source,
} from '../messages.ts';

/**
 * Rows that say what is to be published, each until that is confirmed. The process that claims some has them for a while; one
 * that dies leaves its claims, and once they have run out another publishes the same again.
 */
export type ClaimedRows<Row> = {
  /** Takes some that are due; no other process takes them until the claim runs out. */
  claim: () => Promise<Row[]>;
  /** What they say is published, or there was nothing to publish. */
  settle: (rows: readonly Row[]) => Promise<void>;
  /** The same whenever it is asked; undefined where there is nothing to publish. */
  publicationOf: (row: Row) => Publication | undefined;
  claimMs: number;
  /** As a step has it, of what is published. */
  reportRejection?: (message: Message, rejection: Rejection) => readonly Outgoing[];
};

export type ClaimingOptions<Row> = ClaimedRows<Row> & { name: string; clock: Clock };

/** A row that this process has claimed. `held`: what it says is under way. */
type ClaimedRow<Row> = { row: Row; is: 'held' | 'published' | 'given back'; source?: Source };

/** Takes rows for a step, each as a source of one message: acknowledged, it is settled; given back, it is left to the end of its claim. */
export class Claiming<Row> implements Consumer {
  readonly #options: ClaimingOptions<Row>;
  #consuming: Consuming | undefined;
  readonly #pausedFor = new Set<string>();
  #held = 0;
  #taking: Promise<unknown> = Promise.resolve();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ClaimingOptions<Row>) {
    this.#options = options;
  }

  /** For the step that publishes. */
  takingFor(consuming: Consuming): Consumer {
    this.#consuming = consuming;
    return this;
  }

  async pause(reason: string): Promise<void> {
    this.#pausedFor.add(reason);
    await this.#taking;
  }

  resume(reason: string): void {
    this.#pausedFor.delete(reason);
  }

  held(): number {
    return this.#held;
  }

  /**
   * Publishes all that is due. Resolves with whether nothing is left of it but what others have claimed, and rejects as `claim` and
   * `settle` do. One after the other, if asked while it is at work.
   */
  publishDue(): Promise<boolean> {
    const turn = this.#last.then(() => this.#publishAll());
    this.#last = turn.catch(() => undefined);
    return turn;
  }

  /** Resolves when it is not at work. */
  async untilIdle(): Promise<void> {
    await this.#last;
  }

  async #publishAll(): Promise<boolean> {
    while (this.#pausedFor.size === 0) {
      const { isEmpty, isDone } = await this.#publishSome();
      if (isEmpty) return true;
      if (!isDone) return false;
    }
    return false;
  }

  async #publishSome(): Promise<{ isEmpty: boolean; isDone: boolean }> {
    const { claimMs, clock, settle } = this.#options;
    const runsOutAt = clock.now() + claimMs;
    const ended = new AbortController();
    const taking = this.#take(() => ended.abort());
    this.#taking = taking.catch(() => undefined);
    const claimed = await taking;
    await clock.sleep(Math.max(0, runsOutAt - clock.now()), ended.signal);
    this.#cut(claimed);
    const published = claimed.filter(({ is }) => is === 'published').map(({ row }) => row);
    if (published.length > 0) await settle(published);
    return { isEmpty: claimed.length === 0, isDone: published.length === claimed.length };
  }

  async #take(onEnded: () => void): Promise<ClaimedRow<Row>[]> {
    const rows = await this.#options.claim();
    let left = rows.length;
    const end = (claimed: ClaimedRow<Row>, is: ClaimedRow<Row>['is']) => {
      if (claimed.is !== 'held') return;
      claimed.is = is;
      this.#held -= 1;
      left -= 1;
      if (left === 0) onEnded();
    };
    if (left === 0) onEnded();
    this.#held += left;
    return rows.map((row) => {
      const claimed: ClaimedRow<Row> = { row, is: 'held' };
      const publication = this.#options.publicationOf(row);
      if (publication === undefined) {
        end(claimed, 'published');
        return claimed;
      }
      claimed.source = {
        id: newSourceId(),
        messages: [this.#messageOf(publication)],
        acknowledge: () => end(claimed, 'published'),
        giveBack: () => end(claimed, 'given back'),
      };
      this.#consuming?.onTaken(claimed.source);
      return claimed;
    });
  }

  /** Their claim has run out: what is under way of them here must not be taken for theirs any more. */
  #cut(claimed: readonly ClaimedRow<Row>[]): void {
    for (const { is, source } of claimed) {
      if (is !== 'held' || source === undefined) continue;
      source.giveBack();
      this.#consuming?.onCut(source);
    }
  }

  /** What is to be published, as if it had come so. */
  #messageOf(publication: Publication): Message {
    const { kind: _, headers, mayBundle: __, late: ___, ...same } = publication;
    const traceparent = headers?.['traceparent'];
    return {
      ...same,
      queue: this.#options.name,
      deliveryCount: 0,
      failures: 0,
      ...(traceparent !== undefined && { traceparent: String(traceparent) }),
    };
  }
}
