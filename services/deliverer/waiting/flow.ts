import type { Broker } from '@waybell/line/broker';
import type { Delivery } from '@waybell/line/delivery';
import type { WaitingReason } from '@waybell/line/outcomes';
import type { InHandLimit } from '@waybell/line/prefetch-budget';
import type { StepTools } from '@waybell/line/run-step';
import { RENEW_MS, type WaitingLimits, type WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { type Clock, withTimeout } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { runEvery } from '@waybell/runtime/run-every';
import type { DeliverStepOptions } from '../deliver-step.ts';
import { Endpoints, type EndpointsOptions } from '../endpoints/endpoints.ts';
import type { FindTargets } from '../find-target.ts';
import type { Deliverers } from './deliverers.ts';
import { Drain } from './drain.ts';
import { KeepLimits } from './keep-limits.ts';
import { PutDeliveries } from './put-deliveries.ts';

export type FlowOptions = {
  endpoints: EndpointsOptions;
  /** Limit of the rows from rooms in hand. */
  held: InHandLimit;
  limits: WaitingLimits;
  maxAgeMs: number;
  store: WaitingStore;
  deliverers: Deliverers;
  broker: Broker;
  findTargets: FindTargets;
  /** Called with each row that is put. */
  onPut?: (why: WaitingReason) => void;
  onTaken?: (rows: number) => void;
  log: Log;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
};

const LOOK_MS = 1_000;
const LOOK_AFTER_MS = 10_000;
const RELEASE_LIMIT_MS = 3_000;
const WARNING = 'waiting.away: other deliverers and hung endpoints are as they were last known';

/** Decides which endpoints may be called now, has deliveries for the others wait in their rooms, and takes them once there is room. */
export class Flow {
  readonly endpoints: Endpoints;
  /** How many deliver some of the actions of this process, itself included; the last known number while Postgres is away. */
  deliverers = 1;
  readonly #options: FlowOptions;
  readonly #puts: PutDeliveries;
  readonly #limits: KeepLimits;
  readonly #timed: AsyncDisposable[];
  /** Since when the rooms of endpoints have been shut, by the clock. */
  #shutSince: ReadonlyMap<string, number> = new Map();
  #drain: Drain | undefined;

  constructor(options: FlowOptions) {
    this.#options = options;
    const { store, broker, clock, log, onPut } = options;
    this.endpoints = new Endpoints({
      ...options.endpoints,
      clock,
      onCapacity: (endpoint) => this.#puts.noteCapacity(endpoint) || this.#drain?.hasCapacity(endpoint),
      // The deliverers share the limits equally, as they share the deliveries; but all that wait for an endpoint go through one.
      partOf: (endpoint) => (this.#drain?.rooms.get(endpoint) ? 1 : 1 / this.deliverers),
      partOfAccount: (account) => (this.#drain?.rooms.hasAccount(account) ? 1 : 1 / this.deliverers),
      hungForMs: (endpoint) => this.#hungForMs(endpoint),
    });
    this.#puts = new PutDeliveries({
      store,
      broker,
      clock,
      onPut: (why) => {
        this.#limits.hasPut();
        onPut?.(why);
      },
      onCapacity: (endpoint) => this.#drain?.hasCapacity(endpoint),
    });
    this.#limits = new KeepLimits(options);
    const every = (intervalMs: number, work: () => Promise<void>) =>
      runEvery(work, { intervalMs, beginsAtOnce: true, warning: WARNING, log, clock });
    this.#timed = [
      every(RENEW_MS, async () => void (this.deliverers = await options.deliverers.live())),
      every(LOOK_MS, () => this.#readShut()),
      every(LOOK_AFTER_MS, () => store.lookAfterHeld()),
      // Reading all rows of an account takes long.
      every(LOOK_MS, () => this.#limits.look()),
    ];
  }

  /** Tools of the step that delivers. */
  get tools(): Required<Pick<StepTools<Delivery>, 'putDelivery' | 'takeRows'>> {
    return {
      putDelivery: this.#puts.put,
      takeRows: (consuming) => {
        const { onTaken = () => undefined } = this.#options;
        this.#drain = new Drain({ ...this.#options, endpoints: this.endpoints, onTaken }, consuming);
        return this.#drain.consumer;
      },
    };
  }

  /** Puts a row; see `PutDeliveries`. */
  get putRow(): PutDeliveries['putRow'] {
    return (row) => this.#puts.putRow(row);
  }

  /** Questions that the step asks. */
  get rules(): Pick<DeliverStepOptions, 'admit' | 'retain' | 'isClaimed' | 'onMoved'> {
    return {
      admit: this.endpoints.admit,
      retain: this.#puts.retain,
      isClaimed: (key) => this.#drain?.holds(key) ?? false,
      onMoved: (room) => this.#drain?.scan(room),
    };
  }

  figures(): { claimed: number; shut: number; isAway: boolean } {
    return { ...(this.#drain?.figures() ?? { claimed: 0, shut: 0 }), isAway: this.#puts.isAway };
  }

  /** From now on deliveries that cannot begin at once wait in their rooms, for another process or a later one. */
  [Symbol.dispose](): void {
    this.endpoints.close();
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
    await this.#drain?.[Symbol.asyncDispose]();
    await Promise.all([this.#options.deliverers.leave(), this.#limits.look()]);
  }

  async #readShut(): Promise<void> {
    const { store, clock } = this.#options;
    const askedAt = clock.now();
    const shut = await store.shutRooms();
    this.#shutSince = new Map([...shut].map(([room, forMs]) => [room, askedAt - forMs]));
  }

  /** Returns how long an endpoint that this process does not know has hung. */
  #hungForMs(endpoint: string): number | undefined {
    if (this.#drain?.rooms.get(endpoint)) return this.#drain.shutForMs(endpoint);
    const since = this.#shutSince.get(endpoint);
    return since === undefined ? undefined : this.#options.clock.now() - since;
  }
}
