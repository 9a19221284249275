import type { Clock } from '@waybell/runtime/clock';
import { type ConsumeCallbacks, type Consumer, PauseReasons } from '../broker.ts';
import {
  type Message,
  newSourceId,
  type Outgoing,
  type Publication,
  type Rejection,
  type Source,
} from '../messages.ts';

/**
 * Rows of an outbox. A process claims some for a while, publishes them, and settles them after the confirm. If it dies, another process
 * publishes the same again once the claims have run out.
 */
export type ClaimedRows<Row> = {
  /** Claims some due rows; no other process can claim them until the claim runs out. */
  claim: () => Promise<Row[]>;
  /** Removes or marks rows whose publication is confirmed, or that need none. */
  settle: (rows: readonly Row[]) => Promise<void>;
  /** Returns the same publication for the same row each time; undefined if there is nothing to publish. */
  publicationOf: (row: Row) => Publication | undefined;
  claimMs: number;
  /** A publication that is unroutable is dropped, and its row settled. */
  mayBeLost?: true;
  /** Like a step's, for a publication that the broker rejects. */
  reportRejection?: (message: Message, rejection: Rejection) => readonly Outgoing[];
};

export type ClaimingOptions<Row> = ClaimedRows<Row> & { name: string; clock: Clock };

/** A row that this process has claimed. `in hand`: its publication is under way. */
type ClaimedRow<Row> = { row: Row; is: 'in hand' | 'published' | 'given back'; source?: Source };

/** Feeds rows to a step, each as a source of one message. An acknowledged row is settled; one given back waits until its claim runs out. */
export class Claiming<Row> implements Consumer {
  readonly #options: ClaimingOptions<Row>;
  #consuming: ConsumeCallbacks | undefined;
  readonly #pauses = new PauseReasons();
  #inHand = 0;
  #claiming: Promise<unknown> = Promise.resolve();
  #last: Promise<unknown> = Promise.resolve();

  constructor(options: ClaimingOptions<Row>) {
    this.#options = options;
  }

  /** Sets the callbacks of the step that publishes. */
  takingFor(consuming: ConsumeCallbacks): Consumer {
    this.#consuming = consuming;
    return this;
  }

  async pause(reason: string): Promise<void> {
    this.#pauses.pause(reason);
    await this.#claiming;
  }

  resume(reason: string): void {
    this.#pauses.resume(reason);
  }

  inHand(): number {
    return this.#inHand;
  }

  /**
   * Publishes all due rows. Resolves with whether none is left except those claimed by others; rejects if `claim` or `settle` does.
   * Calls run one after the other.
   */
  publishDue(): Promise<boolean> {
    const published = this.#last.then(() => this.#publishAll());
    this.#last = published.catch(() => undefined);
    return published;
  }

  /** Resolves when the last call of `publishDue` has ended. */
  async untilIdle(): Promise<void> {
    await this.#last;
  }

  async #publishAll(): Promise<boolean> {
    while (!this.#pauses.isPaused) {
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
    const claiming = this.#claimRows(() => ended.abort());
    this.#claiming = claiming.catch(() => undefined);
    const claimed = await claiming;
    await clock.sleep(Math.max(0, runsOutAt - clock.now()), ended.signal);
    this.#cut(claimed);
    const published = claimed.filter(({ is }) => is === 'published').map(({ row }) => row);
    if (published.length > 0) await settle(published);
    return { isEmpty: claimed.length === 0, isDone: published.length === claimed.length };
  }

  async #claimRows(onEnded: () => void): Promise<ClaimedRow<Row>[]> {
    const rows = await this.#options.claim();
    let left = rows.length;
    const end = (claimed: ClaimedRow<Row>, is: ClaimedRow<Row>['is']) => {
      if (claimed.is !== 'in hand') return;
      claimed.is = is;
      this.#inHand -= 1;
      left -= 1;
      if (left === 0) onEnded();
    };
    if (left === 0) onEnded();
    this.#inHand += left;
    return rows.map((row) => {
      const claimed: ClaimedRow<Row> = { row, is: 'in hand' };
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

  /** Gives back rows whose claim has run out: another process may publish them now. */
  #cut(claimed: readonly ClaimedRow<Row>[]): void {
    for (const { is, source } of claimed) {
      if (is !== 'in hand' || source === undefined) continue;
      source.giveBack();
      this.#consuming?.onCut(source);
    }
  }

  /** Turns a publication into the message that a step takes. */
  #messageOf(publication: Publication): Message {
    const { kind: _, headers, ifKept: __, ...same } = publication;
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
