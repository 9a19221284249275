import type { Broker } from '@waybell/line/broker';
import { type Delivery, publishInstead } from '@waybell/line/delivery';
import type { Waiting, RowKey, WaitingRow } from '@waybell/line/messages';
import type { WaitingReason } from '@waybell/line/outcomes';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import type { StepTools } from '@waybell/line/run-step';
import { rowKeyText } from '@waybell/line/waiting-room/put-rows';
import {
  RENEW_MS,
  type WaitingFigures,
  type WaitingLimits,
  type WaitingStore,
  CLAIM_MS,
} from '@waybell/line/waiting-room/waiting-store';
import { type Clock, withTimeout } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { gaugeOnDemand, type Metrics } from '@waybell/runtime/metrics';
import { microBatch } from '@waybell/runtime/micro-batch';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { runEvery } from '@waybell/runtime/run-every';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { DeliverStepOptions } from '../deliver-step.ts';
import type { FindTargets } from '../find-target.ts';
import { Drain } from './drain.ts';
import type { Admit } from './endpoint.ts';
import { Endpoints, type EndpointsOptions } from './endpoints.ts';
import type { EndRequest } from './known-endpoint.ts';
import { Reads } from './reads.ts';
import { Rooms } from './rooms.ts';

export type FlowOptions = {
  endpoints: EndpointsOptions;
  /** Limit of the rows from rooms in hand. */
  inHandLimit: InHandLimit;
  limits: WaitingLimits;
  maxAgeMs: number;
  store: WaitingStore;
  deliverers: Deliverers;
  broker: Broker;
  findTargets: FindTargets;
  /** Called with each row that is put. */
  onPut?: (why: WaitingReason) => void;
  onTaken?: (rows: number) => void;
  /** Called with the figures of all that waits, now and then. */
  onCounted?: (figures: WaitingFigures) => void;
  log: Log;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
};

const POLL_MS = 1_000;
const HELD_POLL_MS = 10_000;
/** Counting reads each room. */
const COUNT_MS = 60_000;
const RELEASE_LIMIT_MS = 3_000;
const WARNING = 'waiting.away: other deliverers and hung endpoints are as they were last known';

/**
 * Decides which endpoints may be called now, has deliveries for the others wait in their rooms, and takes them once there is capacity.
 * Applies each input to the two states, and has `Drain` carry out what it caused. See docs/decisions/0004-flow.md.
 */
export class Flow {
  readonly endpoints: Endpoints;
  /** How many deliver some of the actions of this process, itself included; the last known number while Postgres is away. */
  deliverers = 1;
  readonly #options: FlowOptions;
  readonly #rooms: Rooms;
  readonly #puts: PutDeliveries;
  readonly #limits: KeepLimits;
  readonly #drain: Drain;
  readonly #timed: AsyncDisposable[];

  constructor(options: FlowOptions) {
    this.#options = options;
    const { store, clock, log } = options;
    this.endpoints = new Endpoints({ ...options.endpoints, clock, end: this.#end });
    this.#rooms = new Rooms({ ...options, endpoints: this.endpoints });
    this.#puts = new PutDeliveries(options);
    this.#limits = new KeepLimits(options);
    const reads = new Reads({ ...options, endpoints: this.endpoints }, this.#rooms);
    this.#drain = new Drain({ ...options, endpoints: this.endpoints, rooms: this.#rooms, reads });
    const every = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, warning: WARNING, log, clock });
    this.#timed = [
      every(RENEW_MS, () => this.#countDeliverers()),
      every(POLL_MS, () => this.#readShut()),
      every(HELD_POLL_MS, () => store.lookAfterHeld()),
      every(COUNT_MS, async () => options.onCounted?.(await store.figures())),
      // Reading all rows of an account takes long.
      every(POLL_MS, () => this.#limits.check()),
    ];
  }

  /** Tools of the step that delivers. */
  get tools(): Required<Pick<StepTools<Delivery>, 'putDelivery' | 'takeRows' | 'expireClaims'>> {
    return {
      putDelivery: this.#put,
      takeRows: (consuming) => this.#drain.begin(consuming),
      expireClaims: () => this.#drain.expire(),
    };
  }

  /** Questions that the step asks. */
  get rules(): Pick<DeliverStepOptions, 'admit' | 'retain' | 'onMoved'> {
    return {
      admit: this.admit,
      retain: this.#puts.retain,
      onMoved: (room) => {
        this.#rooms.rowsMoved(room);
        this.#drain.goOn();
      },
    };
  }

  readonly admit: Admit = (key, origin, onAdmitted) => {
    const admission = this.endpoints.ask(key, origin, onAdmitted);
    this.#drain.tell();
    if (admission !== undefined) onAdmitted(admission);
  };

  /** Resolves with the row's `no`; undefined while Postgres is away: it may have been put or not. */
  readonly putRow = async (row: WaitingRow): Promise<number | undefined> => {
    const endpoint = this.endpoints.beginPut(row.room);
    try {
      const no = await this.#puts.putRow(row);
      if (no === undefined) return undefined;
      this.#limits.hasPut();
      this.#options.onPut?.(row.why);
      return no;
    } finally {
      this.endpoints.endPut(endpoint);
      this.#drain.tell();
    }
  };

  figures(): { claimed: number; shut: number; isAway: boolean } {
    return { ...this.#rooms.figures(), isAway: this.#puts.isAway };
  }

  /** From now on deliveries that cannot begin at once wait in their rooms, for another process or a later one. */
  [Symbol.dispose](): void {
    this.endpoints.close();
    this.#drain.tell();
  }

  /**
   * Releases the rooms; to be disposed of once everything in hand is finished. Does not wait for a Postgres that hangs: then
   * others take over when the claims have run out.
   */
  get released(): AsyncDisposable {
    const limit = { clock: this.#options.clock, limitMs: RELEASE_LIMIT_MS };
    return { [Symbol.asyncDispose]: () => withTimeout(limit, this.#release()) };
  }

  async #release(): Promise<void> {
    await Promise.all(this.#timed.map((each) => each[Symbol.asyncDispose]()));
    await this.#drain[Symbol.asyncDispose]();
    await Promise.all([this.#options.deliverers.leave(), this.#limits.check()]);
  }

  readonly #end: EndRequest = (request, ended) => {
    this.endpoints.answered(request, ended);
    this.#drain.tell();
  };

  readonly #put = async (waiting: Waiting): Promise<void> => {
    if ((await this.putRow(waiting.row)) === undefined) await this.#puts.publishInstead(waiting);
  };

  /** The deliverers share the limits of endpoints equally, as they share the deliveries. */
  async #countDeliverers(): Promise<void> {
    this.deliverers = await this.#options.deliverers.live();
    this.endpoints.others.share = 1 / this.deliverers;
  }

  async #readShut(): Promise<void> {
    const { store, clock } = this.#options;
    const askedAt = clock.now();
    const shut = await store.shutRooms();
    this.endpoints.others.hungSince = new Map([...shut].map(([room, forMs]) => [room, askedAt - forMs]));
  }
}

type PutDeliveriesOptions = {
  store: Pick<WaitingStore, 'put' | 'retain'>;
  broker: Pick<Broker, 'publish' | 'state'>;
  clock: Clock;
};

/** Time for Postgres to answer. After it the delivery goes to the waiting queue; when it returns, `retain` finds out whether it was put. */
const ANSWER_LIMIT_MS = 1_000;
/**
 * Pause after a failure, so that deliveries need not each wait for the limit. Nothing is tried either while an abandoned
 * statement has no answer: more would pile up.
 */
const AWAY_MS = 1_000;

/** A statement is several times as large as the bodies in it. */
const HEAVIEST_PUT_BYTES = 2 ** 21;

/** Puts deliveries into the rooms of their endpoints, many by one statement; while Postgres is away, into the waiting queue of the broker. */
export class PutDeliveries {
  readonly #options: PutDeliveriesOptions;
  readonly #putRow: (row: WaitingRow) => Promise<number>;
  readonly #retain: (key: RowKey) => Promise<boolean>;
  #awayUntil = -Infinity;
  /** Statements that were abandoned and have no answer yet. */
  #unanswered = 0;

  constructor(options: PutDeliveriesOptions) {
    const { store } = options;
    this.#options = options;
    this.#putRow = microBatch((rows: WaitingRow[]) => store.put(rows), {
      nameOf: rowKeyText,
      heaviest: { weigh: ({ delivery }) => delivery.body.length, most: HEAVIEST_PUT_BYTES },
    });
    this.#retain = microBatch((keys: RowKey[]) => store.retain(keys), { nameOf: rowKeyText });
  }

  get isAway(): boolean {
    return this.#unanswered > 0 || this.#options.clock.now() < this.#awayUntil;
  }

  /** Resolves with the row's `no`; undefined while Postgres is away: it may have been put or not. */
  putRow(row: WaitingRow): Promise<number | undefined> {
    return this.#inTime(() => this.#putRow(row));
  }

  /**
   * Whether the row is there; then a process that took it cannot delete it any more. False while Postgres is away: no process
   * can take the row then either, and a copy made later is recognised as a repeat.
   */
  readonly retain = async (key: RowKey): Promise<boolean> => (await this.#inTime(() => this.#retain(key))) === true;

  /** The answer of Postgres; undefined if there is none in time. */
  async #inTime<T>(ask: () => Promise<T>): Promise<T | undefined> {
    if (this.isAway) return undefined;
    const { clock } = this.#options;
    const ended = new AbortController();
    const late = clock.sleep(ANSWER_LIMIT_MS, ended.signal).then(() => undefined);
    try {
      const asked = ask();
      const answer = await Promise.race([asked, late]);
      if (answer === undefined) this.#giveUp(asked);
      return answer;
    } catch (error) {
      if (!(error instanceof Unavailable)) throw error;
      this.#awayUntil = clock.now() + AWAY_MS;
      return undefined;
    } finally {
      ended.abort();
    }
  }

  #giveUp(asked: Promise<unknown>): void {
    this.#awayUntil = this.#options.clock.now() + AWAY_MS;
    this.#unanswered += 1;
    const answered = () => void (this.#unanswered -= 1);
    asked.then(answered, answered);
  }

  /** For a row that may not be stored. Rejects with `Unavailable` if it cannot be published now. */
  async publishInstead(waiting: Waiting): Promise<void> {
    const { broker } = this.#options;
    // Publishing would wait for as long as the broker blocks; Postgres may be back sooner.
    if (broker.state() !== 'writable') throw new Unavailable('postgres', () => Promise.resolve());
    await broker.publish(publishInstead(waiting));
  }
}

type KeepLimitsOptions = {
  store: Pick<WaitingStore, 'flushSums' | 'sumsBeyond' | 'endBeyond'>;
  limits: WaitingLimits;
  clock: Pick<Clock, 'now'>;
};

/** Interval of checking limits while nothing is put here: other processes check them too. */
const SELDOM_MS = 10_000;

/** Ends the oldest deliveries of an account beyond its limit, or of the largest account beyond the limit for all. */
class KeepLimits {
  readonly #options: KeepLimitsOptions;
  #checkAt = -Infinity;

  constructor(options: KeepLimitsOptions) {
    this.#options = options;
  }

  hasPut(): void {
    this.#checkAt = -Infinity;
  }

  /** To be called once a second. Sums only select the accounts to read, and are recounted if they were wrong. */
  async check(): Promise<void> {
    const { store, limits, clock } = this.#options;
    await store.flushSums();
    if (clock.now() < this.#checkAt) return;
    this.#checkAt = clock.now() + SELDOM_MS;
    const { beyond } = await store.sumsBeyond(limits);
    for (const { holder, mayHave } of beyond) await store.endBeyond(holder, mayHave);
  }
}

/** The deliverers that live. Both reject with `Unavailable` while Postgres is away. */
type Deliverers = {
  /** Registers this deliverer as alive. Resolves with how many deliver some of its actions, itself included. */
  live(): Promise<number>;
  leave(): Promise<void>;
};

const LIVE = {
  name: 'live-as-deliverer',
  text: `
    with seen as (
      insert into waybell.deliverers (id, seen_at, actions) values ($1, now(), $2)
      on conflict (id) do update set seen_at = excluded.seen_at
    ), gone as (
      delete from waybell.deliverers where id in (
        select id from waybell.deliverers where id <> $1 and seen_at < now() - $3 * interval '1 ms' for update skip locked)
    )
    select 1 + count(*)::int as living from waybell.deliverers
    where id <> $1 and seen_at >= now() - $3 * interval '1 ms' and actions && $2`,
};

const LEAVE = { name: 'leave-deliverers', text: 'delete from waybell.deliverers where id = $1' };

/** `id`: of this process. `actions`: those that it delivers. */
export function deliverersIn(
  postgres: Postgres,
  { id, actions }: { id: string; actions: readonly string[] },
): Deliverers {
  return {
    async live() {
      const values = [id, actions, CLAIM_MS];
      const { rows } = await whenAvailable(postgres, () => postgres.query<{ living: number }>({ ...LIVE, values }));
      return rows[0]?.living ?? 1;
    },
    async leave() {
      await whenAvailable(postgres, () => postgres.query({ ...LEAVE, values: [id] }));
    },
  };
}

/** `known`: how many deliver some of the actions of this process, itself included. */
export function watchDeliverers(known: { readonly deliverers: number }, metrics: Metrics): void {
  const help =
    'Deliverers that take some of the actions of this one, itself included: they divide the limits of endpoints';
  gaugeOnDemand(metrics, { name: 'waybell_deliverers', help }, () => [{ value: known.deliverers }]);
}
