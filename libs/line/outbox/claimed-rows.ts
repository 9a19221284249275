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
 * Rows to be published. A process claims some for a while, publishes them, and settles them after the confirm. If it dies, another
 * process publishes the same again once the claims have run out.
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
  /**
   * Makes rows due again that were given back: the broker does not take them now, or the process ends. Absent: they wait until their
   * claim runs out, and one that no queue takes is rejected.
   */
  keep?: (rows: readonly Row[]) => Promise<void>;
  /** Like a step's, for a publication that the broker rejects. */
  reportRejection?: (message: Message, rejection: Rejection) => readonly Outgoing[];
};

export type ClaimingOptions<Row> = ClaimedRows<Row> & { name: string; clock: Clock };

/** A row that this process has claimed. `in hand`: its publication is under way. `cut`: its claim has run out. */
type ClaimedRow<Row> = {
  row: Row;
  publication: Publication;
  source: Source;
  is: 'in hand' | 'published' | 'given back' | 'cut';
};

/**
 * Feeds rows to a step, each as a source of one message. An acknowledged row is settled; one given back is kept, or waits until its claim
 * runs out.
 */
export class Claiming<Row> implements Consumer {
  readonly #options: ClaimingOptions<Row>;
  #consuming: ConsumeCallbacks | undefined;
  readonly #pauses = new PauseReasons();
  /** Rows by the body of their publication, which its copies share, and the messages made of it. */
  readonly #inHand = new Map<Buffer, ClaimedRow<Row>>();
  #ended = new AbortController();
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
    return this.#inHand.size;
  }

  /** Returns what the row of a message publishes, in the trace of the message; undefined if it is no longer in hand. */
  publicationOf({ body, traceparent }: Message): Publication | undefined {
    const { publication } = this.#inHand.get(body) ?? {};
    if (publication === undefined || traceparent === undefined) return publication;
    return { ...publication, headers: { ...publication.headers, traceparent } };
  }

  /** Gives back the row of a publication that the broker does not take. */
  giveBack({ body }: Publication): void {
    const claimed = this.#inHand.get(body);
    if (claimed !== undefined) this.#end(claimed, 'given back');
  }

  /**
   * Publishes all due rows. Resolves with whether none is left except those claimed by others; rejects if `claim`, `settle` or `keep`
   * does. Calls run one after the other.
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
    let areAllDone = true;
    while (!this.#pauses.isPaused) {
      const { claimed, published } = await this.#publishSome();
      if (claimed === 0) return areAllDone;
      // Nothing goes now: what was given back would only be claimed again.
      if (published === 0) return false;
      areAllDone &&= published === claimed;
    }
    return false;
  }

  async #publishSome(): Promise<{ claimed: number; published: number }> {
    const { claimMs, clock, settle, keep } = this.#options;
    const runsOutAt = clock.now() + claimMs;
    this.#ended = new AbortController();
    const claiming = this.#claim();
    this.#claiming = claiming.catch(() => undefined);
    const { claimed, empty } = await claiming;
    await clock.sleep(Math.max(0, runsOutAt - clock.now()), this.#ended.signal);
    // Another process may publish these now.
    for (const each of this.#inHand.values()) {
      this.#end(each, 'cut');
      this.#consuming?.onCut(each.source);
    }
    const which = (wanted: ClaimedRow<Row>['is']) => claimed.filter(({ is }) => is === wanted).map(({ row }) => row);
    const [published, givenBack] = [[...empty, ...which('published')], which('given back')];
    if (published.length > 0) await settle(published);
    if (givenBack.length > 0) await keep?.(givenBack);
    return { claimed: claimed.length + empty.length, published: published.length };
  }

  /** `empty`: rows with nothing to publish. */
  async #claim(): Promise<{ claimed: ClaimedRow<Row>[]; empty: Row[] }> {
    const [claimed, empty]: [ClaimedRow<Row>[], Row[]] = [[], []];
    for (const row of await this.#options.claim()) {
      const publication = this.#options.publicationOf(row);
      if (publication === undefined) empty.push(row);
      else claimed.push(this.#claimedRow(row, publication));
    }
    for (const each of claimed) this.#inHand.set(each.publication.body, each);
    if (claimed.length === 0) this.#ended.abort();
    for (const { source } of claimed) this.#consuming?.onTaken(source);
    return { claimed, empty };
  }

  #claimedRow(row: Row, publication: Publication): ClaimedRow<Row> {
    const source: Source = {
      id: newSourceId(),
      messages: [this.#messageOf(publication)],
      acknowledge: () => this.#end(claimed, 'published'),
      giveBack: () => this.#end(claimed, 'given back'),
    };
    const claimed: ClaimedRow<Row> = { row, publication, source, is: 'in hand' };
    return claimed;
  }

  #end(claimed: ClaimedRow<Row>, is: ClaimedRow<Row>['is']): void {
    if (claimed.is !== 'in hand') return;
    claimed.is = is;
    this.#inHand.delete(claimed.publication.body);
    if (this.#inHand.size === 0) this.#ended.abort();
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
      isSealed: true,
      ...(traceparent !== undefined && { traceparent: String(traceparent) }),
    };
  }
}
