import type { Broker } from '@waybell/line/broker';
import type { Delivery } from '@waybell/line/delivery';
import type { StepTools } from '@waybell/line/run-step';
import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { withTimeout } from '@waybell/runtime/with-timeout';
import type { ParkReason } from '@waybell/line/outcomes';
import { Endpoints, type EndpointsOptions } from '../endpoints/endpoints.ts';
import type { DeliverStepOptions } from '../deliver-step.ts';
import type { FindTargets } from '../find-target.ts';
import { ParkingOwner } from './owner.ts';
import { Park } from './park.ts';
import type { ParkingStore, RowKey } from './parking-store.ts';
import { SumChanges } from './sum-changes.ts';
import type { ParkedLimits } from './find-parked-to-end.ts';

export type FlowOptions = {
  endpoints: EndpointsOptions;
  parked: ParkedLimits;
  maxAgeMs: number;
  store: ParkingStore;
  broker: Broker;
  findTargets: FindTargets;
  log: Log;
  clock: Clock;
  /** Milliseconds since the epoch. */
  now: () => number;
};

const RELEASE_LIMIT_MS = 3_000;
const NOTHING = {
  deliverers: 1,
  hung: 0,
  waiting: 0,
  withRoomMs: 0,
  taken: 0,
  all: { rows: 0, bytes: 0 },
  oldestMs: 0,
};

/** Decides which endpoints may be called now, parks deliveries for the others, and takes them once there is room. */
export class Flow {
  readonly endpoints: Endpoints;
  /** Number of deliveries parked, by reason. */
  readonly timesParked: Record<ParkReason, number> = { full: 0, hung: 0, busy: 0, egress: 0 };
  readonly #options: FlowOptions;
  readonly #sums = new SumChanges();
  readonly #park: Park;
  #owner: ParkingOwner | undefined;

  constructor(options: FlowOptions) {
    this.#options = options;
    const { store, broker, clock } = options;
    this.endpoints = new Endpoints({
      ...options.endpoints,
      clock,
      onRoom: (endpoint) => this.#owner?.hasRoom(endpoint),
      partOf: (account) => this.#owner?.partOf(account) ?? 1,
    });
    const onParked = (why: ParkReason) => void (this.timesParked[why] += 1);
    this.#park = new Park({ store, broker, sums: this.#sums, clock, onParked });
  }

  /** Tools of the step that delivers. */
  get tools(): Required<Pick<StepTools, 'park' | 'takeRows'>> {
    return {
      park: this.#park.park,
      takeRows: (consuming) => {
        this.#owner = new ParkingOwner({ ...this.#options, endpoints: this.endpoints, sums: this.#sums }, consuming);
        return this.#owner.consumer;
      },
    };
  }

  /** Questions that the step asks. */
  get rules(): Pick<DeliverStepOptions, 'admit' | 'isParked' | 'isHeld' | 'onRevived'> {
    const { store } = this.#options;
    return {
      admit: this.endpoints.admit,
      isParked: (delivery) => this.#park.isParked({ ...keyOf(delivery), mayBeOpen: delivery.mayBeOpen === true }),
      isHeld: (delivery) => this.#owner?.holds(keyOf(delivery)) === true,
      // Not needed: the next probe would find it out.
      onRevived: (subscription) => void store.wake(subscription).catch(() => undefined),
    };
  }

  figures() {
    const owned = this.#owner?.figures() ?? NOTHING;
    return { ...owned, isAway: this.#park.isAway };
  }

  /** From now on deliveries that cannot begin at once are parked, for another process or a later one. */
  [Symbol.dispose](): void {
    this.endpoints.close();
  }

  /**
   * Releases the owned shards; to be disposed of once what is in hand is finished. Does not wait for a Postgres that hangs:
   * then others take over when the lease is over.
   */
  get released(): AsyncDisposable {
    const limit = { clock: this.#options.clock, limitMs: RELEASE_LIMIT_MS };
    return { [Symbol.asyncDispose]: async () => this.#owner && withTimeout(limit, this.#owner[Symbol.asyncDispose]()) };
  }
}

function keyOf({ subscription, createdAt, guid: delivery, attempt, hop = 0 }: Delivery): RowKey {
  return { subscription, createdAt, delivery, attempt, hop };
}
