import type { Clock } from '@waybell/runtime/clock';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { Broker } from '../broker.ts';
import { joinDeliveries, type Joined } from '../delivery-batch.ts';
import { Unroutable } from '../publish-errors.ts';
import type { Publication } from '../messages.ts';
import type { KeptDestination, KeptKey, KeptPublication, KeptStore } from './kept-store.ts';
import { LONGEST_DELAY_MS, PutOffDestinations } from './put-off-destinations.ts';

export type SendingOnOptions = {
  store: Pick<KeptStore, 'claim' | 'putOff' | 'remove'>;
  look: KeptStore['look'];
  broker: Pick<Broker, 'publish' | 'state' | 'onState'>;
  log: Pick<Log, 'info' | 'warn'>;
  clock: Clock;
};

/** How often a process looks for publications left by others, and how long its claims last; each look renews them. */
const LOOK_MS = 10_000;
const CLAIM_MS = 40_000;
/** Limits of what a process has claimed at once. */
const MOST = { publications: 1_024, ofDestination: 128, bytes: 2 ** 22 };
/** Limits on disposal: for confirms that are still to come, and for all of it. */
const CONFIRM_LIMIT_MS = 2_000;
const CLOSE_LIMIT_MS = 4_000;
const COMPLAINT = 'publications.postgres-away';

/**
 * Publishes kept publications while the broker takes them. Publishes one group for each destination at a time, so that a destination
 * which does not confirm blocks no other. Rows that were confirmed but not removed are published again when their claim runs out.
 */
export class SendingOn implements AsyncDisposable {
  readonly #options: SendingOnOptions;
  readonly #putOff: PutOffDestinations;
  readonly #complain: (error: unknown) => void;
  readonly #complaints = new Map<string, (error: unknown) => void>();
  readonly #looking: AsyncDisposable;
  readonly #underWay = new Map<string, { rows: readonly KeptPublication[]; done: Promise<void> }>();
  /** Confirmed, and not removed from the store yet. */
  #toRemove: KeptKey[] = [];
  #isDue = false;
  #going: Promise<void> | undefined;
  #isClosing = false;
  #isClosed = false;
  total = 0;

  constructor(options: SendingOnOptions) {
    const { broker, log, clock } = options;
    this.#options = options;
    this.#putOff = new PutOffDestinations(clock);
    this.#complain = throttledWarning(log, COMPLAINT, clock);
    broker.onState((state) => {
      if (state !== 'writable') return;
      this.#putOff.tryAll();
      this.#goNow();
    });
    this.#looking = runEvery(() => this.#look(), {
      intervalMs: LOOK_MS,
      beginsAtOnce: true,
      complaint: COMPLAINT,
      log,
      clock,
    });
  }

  /** Delays the destination of a publication that was just kept, if the broker itself takes publishes. */
  kept(publication: Publication): void {
    if (this.#options.broker.state() === 'writable' && !this.#putOff.isKnown(publication)) this.#waitFor(publication);
  }

  /** Ends within the limit even if a server hangs: what was under way is then published again when its claim runs out. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#isClosing = true;
    await withTimeout({ clock: this.#options.clock, limitMs: CLOSE_LIMIT_MS }, this.#close());
    this.#isClosed = true;
  }

  async #close(): Promise<void> {
    await this.#looking[Symbol.asyncDispose]();
    const { clock, store, broker } = this.#options;
    const done = Promise.all([...this.#underWay.values()].map((group) => group.done));
    if (broker.state() === 'writable') await withTimeout({ clock, limitMs: CONFIRM_LIMIT_MS }, done);
    await this.#removeSent().catch(this.#complain);
    await store.putOff(this.#rowsUnderWay(), 0).catch(this.#complain);
  }

  async #look(): Promise<void> {
    await this.#options.store.putOff(this.#rowsUnderWay(), CLAIM_MS);
    await this.#go();
  }

  #goNow(): void {
    this.#go().catch(this.#complain);
  }

  /** Runs one round at a time; a call during a round causes another one. */
  #go(): Promise<void> {
    this.#isDue = true;
    this.#going ??= this.#goWhileDue().finally(() => (this.#going = undefined));
    return this.#going;
  }

  async #goWhileDue(): Promise<void> {
    while (this.#isDue && !this.#isClosing) {
      this.#isDue = false;
      await this.#round();
    }
  }

  async #round(): Promise<void> {
    const { store, broker, look } = this.#options;
    await this.#removeSent();
    const found = await look();
    if (broker.state() !== 'writable' || this.#isClosing) return;
    const wanted = found.filter((each) => !this.#underWay.has(each.destination) && this.#putOff.mayBeTried(each));
    const rows = await this.#claim(wanted);
    if (this.#isClosing) return store.putOff(rows, 0);
    for (const [destination, group] of Map.groupBy(rows, (row) => row.destination)) {
      this.#underWay.set(destination, { rows: group, done: this.#send(destination, group) });
    }
  }

  async #claim(from: readonly KeptDestination[]): Promise<KeptPublication[]> {
    const bytes = MOST.bytes - this.#bytesUnderWay();
    if (from.length === 0 || bytes <= 0) return [];
    const most = Math.max(1, Math.min(MOST.ofDestination, Math.floor(MOST.publications / from.length)));
    const wanted = from.map((each) => ({
      destination: each.destination,
      most: this.#putOff.isKnown(each) ? 1 : most,
    }));
    return this.#options.store.claim(wanted, { bytes, forMs: CLAIM_MS });
  }

  async #send(destination: string, rows: readonly KeptPublication[]): Promise<void> {
    const { broker } = this.#options;
    const failed: KeptPublication[] = [];
    let reason: unknown;
    const send = async ({ publication, members }: Joined<KeptPublication>) => {
      try {
        await broker.publish(publication);
        this.total += members.length;
        this.#toRemove.push(...members);
      } catch (error) {
        reason = error;
        failed.push(...members);
      }
    };
    await Promise.all(joinDeliveries(rows).map(send));
    if (this.#isClosed) return;
    await this.#after(rows, failed, reason).catch(this.#complain);
    this.#underWay.delete(destination);
    if (failed.length < rows.length) this.#goNow();
  }

  async #after(rows: readonly KeptPublication[], failed: readonly KeptPublication[], reason: unknown): Promise<void> {
    const [first] = failed;
    await this.#removeSent();
    if (first === undefined) return rows.forEach(({ publication }) => this.#putOff.restore(publication));
    this.#complainOf(first.publication, reason);
    const delayMs = failed.length === rows.length ? this.#waitFor(first.publication) : LONGEST_DELAY_MS;
    // The message itself may be at fault: another one of the destination is tried before it.
    const isAlone = rows.length === 1 || failed.length < rows.length;
    await this.#options.store.putOff(failed, isAlone ? 2 * delayMs : 0);
  }

  #waitFor(publication: Publication): number {
    const delayMs = this.#putOff.putOff(publication);
    for (const afterMs of [delayMs, 2 * delayMs])
      this.#options.clock.after(afterMs, () => this.#isClosing || this.#goNow()).unref();
    return delayMs;
  }

  #complainOf({ exchange, routingKey }: Publication, reason: unknown): void {
    const { log, clock } = this.#options;
    const name = `${exchange} ${routingKey}`;
    const complain = this.#complaints.get(name) ?? throttledWarning(log, 'publications.not-sent-on', clock);
    this.#complaints.set(name, complain);
    complain(reason instanceof Unroutable ? new Error(`${reason.message}: ./waybell declare makes it`) : reason);
  }

  /** Removes confirmed rows. On failure, the next round tries again. */
  async #removeSent(): Promise<void> {
    const sent = this.#toRemove;
    this.#toRemove = [];
    try {
      await this.#options.store.remove(sent);
    } catch (error) {
      this.#toRemove.push(...sent);
      throw error;
    }
  }

  #rowsUnderWay(): KeptPublication[] {
    return [...this.#underWay.values()].flatMap(({ rows }) => rows);
  }

  #bytesUnderWay(): number {
    return this.#rowsUnderWay().reduce((bytes, { publication }) => bytes + publication.body.length, 0);
  }
}
