import { wait, type Delivery } from '@waybell/line/delivery';
import type { StoreRunning } from '@waybell/line/hand-over/effect-runner';
import { newSourceId, type Source, type WaitingRow } from '@waybell/line/messages';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { TakenKey, WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { type Clock, type Timer, withTimeout } from '@waybell/runtime/clock';
import { type Log, throttledWarning } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';

export type OpenRequestsOptions = {
  store: Pick<WaitingStore, 'settle' | 'postpone'>;
  /** Resolves with the row's `no`; undefined if it is not known to be stored. */
  putRow: (row: WaitingRow) => Promise<number | undefined>;
  /** Limits from the start of a request to its status line. */
  limits: Readonly<Record<InterfaceName, { responseMs: number }>>;
  log: Log;
  clock: Clock;
};

/** A row is due this long after the limit of its request, unless it is postponed: time to record the outcome. */
const SPARE_MS = 30_000;
/** This process counts a request as lost this long before another may take its row. */
const EARLY_MS = 10_000;
const POSTPONE_MS = 5_000;
const CLOSE_LIMIT_MS = 3_000;
/** A delivery that is stored so stays in memory but no longer counts as in hand. Beyond this many bytes batches wait instead. */
const MOST_BYTES = 2 ** 24;
const WARNING = 'waiting.away: requests under way stay in their batches';

/** `until`: when this process counts it as lost. */
type OpenRequest = { key: TakenKey; afterMs: number; until: number; bytes: number; onCut: () => void; watch?: Timer };

/**
 * Has deliveries wait whose attempt takes long, so that the batch they came in can be acknowledged. Each leaves its room once its
 * outcome is safe; a process that lives postpones the rest. One of a process that died is due, and attempted again, as any that waits.
 */
export class OpenRequests implements AsyncDisposable {
  readonly #options: OpenRequestsOptions;
  readonly #postponing: AsyncDisposable;
  readonly #all = new Set<OpenRequest>();
  readonly #warn: (error: unknown) => void;
  #done: TakenKey[] = [];
  #back: TakenKey[] = [];
  #finishing: Promise<void> | undefined;
  #bytes = 0;

  constructor(options: OpenRequestsOptions) {
    const { clock, log } = options;
    this.#options = options;
    this.#warn = throttledWarning(log, WARNING, clock);
    const work = () => Promise.all([this.#postpone(), this.#finish()]).then(() => undefined);
    this.#postponing = runEvery(work, { intervalMs: POSTPONE_MS, warning: WARNING, log, clock });
  }

  readonly storeRunning: StoreRunning<Delivery> = async ({ message, parsed: delivery }, onCut) => {
    const bytes = message.body.length;
    if (delivery.room === undefined || this.#bytes + bytes > MOST_BYTES) return undefined;
    this.#bytes += bytes;
    const askedAt = this.#options.clock.now();
    const afterMs = this.#options.limits[delivery.interface].responseMs + SPARE_MS;
    const { row } = wait(delivery, { why: 'open', afterMs });
    const no = await this.#options.putRow(row).catch(this.#warn);
    if (typeof no !== 'number') {
      this.#bytes -= bytes;
      return undefined;
    }
    const { room, madeAt, id } = row;
    const key = { room, madeAt, id, no };
    const request: OpenRequest = { key, afterMs, until: Infinity, bytes, onCut: () => onCut(source) };
    const source: Source = {
      id: newSourceId(),
      messages: [message],
      acknowledge: () => this.#end(request, this.#done),
      giveBack: () => this.#end(request, this.#back),
    };
    this.#all.add(request);
    this.#watch(request, askedAt);
    return source;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const left = this.#finishing ?? this.#finish().catch(this.#warn);
    const closed = Promise.all([this.#postponing[Symbol.asyncDispose](), left]);
    await withTimeout({ clock: this.#options.clock, limitMs: CLOSE_LIMIT_MS }, closed);
  }

  async #postpone(): Promise<void> {
    const { store, clock } = this.#options;
    // This process may have stood still: a row that another process took meanwhile stays with that.
    for (const request of this.#all) if (request.until <= clock.now()) this.#cut(request);
    for (const [afterMs, requests] of Map.groupBy(this.#all, (request) => request.afterMs)) {
      const askedAt = clock.now();
      const keys = requests.map(({ key }) => key);
      const isOurs = await store.postpone(keys, afterMs);
      for (const [place, request] of requests.entries()) {
        if (isOurs[place] === true) this.#watch(request, askedAt);
        else this.#cut(request);
      }
    }
  }

  /** Counts a request as another process's unless it is postponed in time. */
  #watch(request: OpenRequest, askedAt: number): void {
    if (!this.#all.has(request)) return;
    const { clock } = this.#options;
    request.watch?.[Symbol.dispose]();
    request.until = askedAt + request.afterMs - EARLY_MS;
    request.watch = clock.after(Math.max(0, request.until - clock.now()), () => this.#cut(request));
    request.watch.unref();
  }

  #cut(request: OpenRequest): void {
    if (this.#forget(request)) request.onCut();
  }

  #end(request: OpenRequest, to: TakenKey[]): void {
    if (!this.#forget(request)) return;
    to.push(request.key);
    this.#finishing ??= Promise.resolve()
      .then(() => this.#finish())
      .catch(this.#warn)
      .finally(() => (this.#finishing = undefined));
  }

  #forget(request: OpenRequest): boolean {
    request.watch?.[Symbol.dispose]();
    if (!this.#all.delete(request)) return false;
    this.#bytes -= request.bytes;
    return true;
  }

  /**
   * Deletes finished rows, and makes given-back ones due. A row that cannot be deleted now is deleted later; if it is taken
   * before, it is recognised as a repeat.
   */
  async #finish(): Promise<void> {
    const { store } = this.#options;
    while (this.#done.length + this.#back.length > 0) {
      const [done, back] = [this.#done.splice(0), this.#back.splice(0)];
      try {
        if (done.length > 0) await store.settle(done);
        if (back.length > 0) await store.postpone(back, 0);
      } catch (error) {
        this.#done.push(...done);
        throw error;
      }
    }
  }
}
