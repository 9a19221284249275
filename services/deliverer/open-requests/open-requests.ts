import { randomUUID } from 'node:crypto';
import type { Broker } from '@waybell/line/broker';
import { actionKey, publishKept, readDelivery, type Delivery } from '@waybell/line/delivery';
import type { HoldElsewhere } from '@waybell/line/hand-over/effect-tools';
import { isRejection, newSourceId, type Source } from '@waybell/line/messages';
import type { InterfaceName } from '@waybell/line/outcomes';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { throttledWarning } from '@waybell/runtime/throttled-warning';
import { microBatch } from '@waybell/runtime/micro-batch';
import { runEvery } from '@waybell/runtime/run-every';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { OpenRequest, OpenRequestStore } from './open-request-store.ts';

export type OpenRequestsOptions = {
  store: OpenRequestStore;
  broker: Pick<Broker, 'publish' | 'state'>;
  /** Limits from the start of a request to its status line. */
  limits: Readonly<Record<InterfaceName, { responseMs: number }>>;
  log: Log;
  clock: Clock;
};

/** A stored request is due this long after the limit of the request, unless it is renewed: time to record the outcome. */
const SPARE_MS = 30_000;
/** This process counts a request as lost this long before another may claim it. */
const EARLY_MS = 10_000;
const LOOK_MS = 10_000;
const RENEW_MS = 5_000;
const CLOSE_LIMIT_MS = 3_000;
/** Requests claimed at once, each with its body. */
const MOST = 16;
/** A statement is several times as large as the bodies in it. */
const HEAVIEST_INSERT_BYTES = 2 ** 21;
/** Stored deliveries stay in memory but no longer count as held. Beyond this many bytes batches wait instead. */
const MOST_BYTES = 2 ** 24;
const COMPLAINT = 'open-requests.postgres-away';

type UnderWay = { dueInMs: number; taken: () => void; watch?: Timer };

/**
 * Stores deliveries in Postgres whose attempt takes long or waits for its turn, so that the batch they came in can be
 * acknowledged. Each is removed once its outcome is safe. Those of a process that died are attempted again when they are
 * due; a process that lives postpones that.
 */
export class OpenRequests implements AsyncDisposable {
  readonly #options: OpenRequestsOptions;
  readonly #insert: (request: OpenRequest & { dueInMs: number }) => Promise<void>;
  readonly #timed: AsyncDisposable[];
  readonly #underWay = new Map<string, UnderWay>();
  readonly #complain: (error: unknown) => void;
  #toRemove: string[] = [];
  readonly #toBringForward: string[] = [];
  #bringing: Promise<void> | undefined;
  #isRemoving = false;
  /** Bytes of stored bodies whose requests are under way. */
  #bytes = 0;

  constructor(options: OpenRequestsOptions) {
    const { store, clock, log } = options;
    this.#options = options;
    this.#insert = microBatch<OpenRequest & { dueInMs: number }, void>(
      async (requests) => {
        await store.insert(requests);
        return [];
      },
      { nameOf: ({ id }) => id, heaviest: { weigh: ({ body }) => body.length, most: HEAVIEST_INSERT_BYTES } },
    );
    this.#complain = throttledWarning(log, COMPLAINT, clock);
    const told = { complaint: COMPLAINT, log, clock };
    this.#timed = [
      runEvery(() => this.#look(), { intervalMs: LOOK_MS, ...told }),
      runEvery(() => this.#renew(), { intervalMs: RENEW_MS, ...told }),
    ];
  }

  readonly keep: HoldElsewhere = async (message, onCut) => {
    const delivery = readDelivery(message);
    const { length } = message.body;
    if (isRejection(delivery) || this.#bytes + length > MOST_BYTES) return undefined;
    this.#bytes += length;
    const id = randomUUID();
    const dueInMs = this.#options.limits[delivery.interface].responseMs + SPARE_MS;
    try {
      await this.#insert({ ...asOpen(delivery, message.note ?? ''), id, dueInMs });
    } catch (error) {
      this.#bytes -= length;
      this.#complain(error);
      return undefined;
    }
    const end = () => {
      this.#underWay.get(id)?.watch?.[Symbol.dispose]();
      if (this.#underWay.delete(id)) this.#bytes -= length;
    };
    const taken = () => {
      end();
      onCut(source);
    };
    const source: Source = {
      id: newSourceId(),
      messages: [message],
      acknowledge: () => {
        end();
        this.#toRemove.push(id);
        this.#removeAll().catch(this.#complain);
      },
      giveBack: () => {
        end();
        if (this.#toBringForward.push(id) === 1) this.#bringing = this.#bringForward().catch(this.#complain);
      },
    };
    this.#underWay.set(id, { dueInMs, taken });
    this.#watch(id);
    return source;
  };

  async [Symbol.asyncDispose](): Promise<void> {
    const removed = this.#removeAll().catch(this.#complain);
    const closed = Promise.all([...this.#timed.map((each) => each[Symbol.asyncDispose]()), removed, this.#bringing]);
    await withTimeout({ clock: this.#options.clock, limitMs: CLOSE_LIMIT_MS }, closed);
  }

  async #renew(): Promise<void> {
    const asked = [...this.#underWay].map(([id, { dueInMs }]) => ({ id, dueInMs }));
    if (asked.length === 0) return;
    const renewed = await this.#options.store.renew(asked);
    for (const id of renewed) this.#watch(id);
  }

  /** Counts a request as claimed by another process unless it is renewed in time. */
  #watch(id: string): void {
    const request = this.#underWay.get(id);
    if (request === undefined) return;
    request.watch?.[Symbol.dispose]();
    request.watch = this.#options.clock.after(request.dueInMs - EARLY_MS, request.taken);
    request.watch.unref();
  }

  /** Makes returned requests due at once; if Postgres does not answer, they stay due as they were. */
  async #bringForward(): Promise<void> {
    await Promise.resolve();
    await this.#options.store.bringForward(this.#toBringForward.splice(0));
  }

  /**
   * Requests that cannot be removed now are tried again at the next look; one that becomes due is recognised as a repeat.
   */
  async #removeAll(): Promise<void> {
    if (this.#isRemoving) return;
    this.#isRemoving = true;
    try {
      await Promise.resolve();
      while (this.#toRemove.length > 0) await this.#removeSome();
    } finally {
      this.#isRemoving = false;
    }
  }

  async #removeSome(): Promise<void> {
    const ids = this.#toRemove;
    this.#toRemove = [];
    try {
      await this.#options.store.remove(ids);
    } catch (error) {
      this.#toRemove.push(...ids);
      throw error;
    }
  }

  async #look(): Promise<void> {
    const { store, broker } = this.#options;
    await this.#removeAll();
    if (broker.state() !== 'writable') return;
    let claimed: OpenRequest[];
    do {
      claimed = await store.claim(MOST, SPARE_MS);
      for (const request of claimed) {
        await broker.publish(publishKept(request));
        await store.remove([request.id]);
      }
    } while (claimed.length === MOST);
  }
}

function asOpen(delivery: Delivery, note: string): Omit<OpenRequest, 'id'> {
  const { guid, createdAt, attempt, body, traceparent = null } = delivery;
  return { delivery: guid, createdAt, attempt, action: actionKey(delivery), note, traceparent, body };
}
