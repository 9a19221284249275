import type { Delivery } from '@waybell/line/delivery';
import type { Handler, Outgoing } from '@waybell/line/messages';
import { waitingExchange, type WaitingLane } from '@waybell/line/topology';
import type { Call } from '../call-endpoint.ts';
import { deliver, type DeliverOptions } from '../deliver.ts';
import { deliverWaiting } from '../deliver-waiting.ts';
import type { Target } from '../find-target.ts';
import { TurnedClock, settled } from '@waybell/runtime/turned-clock';
import { openFlow, type FlowLimits } from '../windows/flow.ts';
import type { Entry } from '../windows/origin.ts';
import type { Receiver } from './receivers.ts';

export type SimulationOptions = {
  receivers: readonly Receiver[];
  flow: FlowLimits;
  /** False: requests wait for a slot first come, first served, whoever they are for. */
  hasWindows: boolean;
  /** Deliveries come for so long; then the simulation ends. */
  durationMs: number;
  held: number;
  random: () => number;
};

/** How long each attempt waited beyond the moment it was due, by kind of receiver; Infinity: to the end, in vain. */
export type Simulated = {
  waitsMs: Map<string, number[]>;
  /** Slots in use, once a second. */
  slotsUsed: number[];
  putAside: Record<WaitingLane, number>;
};

const LIMIT_MS = { carrier: 3_000, shipper: 60_000 };
const SCHEDULE = { carrier: [1_000, 2_000, 4_000], shipper: [60_000, 60_000, 60_000, 60_000, 60_000] };
/** From one queue through a handler into the next. */
const HOP_MS = 2;
const NOTHING = Buffer.alloc(0);

/** The deliverer's own handlers between queues that are arrays, at receivers that are numbers, by a simulated clock. */
export async function simulateFlow(options: SimulationOptions): Promise<Simulated> {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock = new TurnedClock();
  readonly #deliveries: Station;
  readonly #lanes: Record<WaitingLane, Station>;
  readonly #result: Simulated = { waitsMs: new Map(), slotsUsed: [], putAside: { busy: 0, hung: 0 } };
  /** When the attempt is due of each delivery that waits for one. */
  readonly #dueAt = new Map<string, number>();
  #slotsUsed = 0;
  #made = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const flow = openFlow(options.flow, this.#clock);
    const slots = plainSlots(options.flow.slots);
    const common: DeliverOptions = {
      findTarget: async (subscription) => targetOf(subscription),
      callEndpoint: (call) => this.#call(call),
      enter: options.hasWindows ? (key) => flow.windows.enter(key) : slots,
      schedule: SCHEDULE,
      maxAgeMs: Infinity,
      slowMs: options.flow.slowMs,
      now: this.#clock.now,
    };
    const waiting = deliverWaiting({ ...common, paces: flow.paces });
    const station = (handle: Handler<Delivery>, held: number) =>
      new Station(handle, held, (delivery, caused) => this.#publish(delivery, caused));
    const lane = (name: WaitingLane) => station((delivery) => waiting({ ...delivery, lane: name }), options.flow.slots);
    this.#deliveries = station(deliver(common), options.held);
    this.#lanes = { busy: lane('busy'), hung: lane('hung') };
  }

  async run(): Promise<Simulated> {
    const { receivers, durationMs, random } = this.#options;
    receivers.forEach((receiver, place) => this.#load(receiver, place, random() * receiver.everyMs));
    this.#sample();
    for (let at = this.#clock.nextAt(); at !== undefined && at <= durationMs; at = this.#clock.nextAt()) {
      this.#clock.step();
      await settled();
    }
    for (const [guid, dueAt] of this.#dueAt) if (dueAt <= durationMs) this.#waited(guid, Infinity);
    return this.#result;
  }

  #load(receiver: Receiver, place: number, delayMs: number): void {
    const { random } = this.#options;
    this.#clock.after(delayMs, () => {
      for (let count = 0; count < receiver.burst; count += 1) this.#arrive(this.#aDelivery(receiver, place), 0);
      this.#load(receiver, place, -Math.log(1 - random()) * receiver.everyMs);
    });
  }

  #aDelivery({ interface: interfaceName }: Receiver, place: number): Delivery {
    this.#made += 1;
    const at = this.#clock.now();
    return {
      guid: `${place} ${this.#made}`,
      interface: interfaceName,
      action: 'order.created',
      subscription: String(place),
      generation: 1,
      event: '',
      attempt: 1,
      createdAt: at,
      beganAt: at,
      body: NOTHING,
    };
  }

  /** Due in so long; then it joins the deliveries. */
  #arrive(delivery: Delivery, delayMs: number): void {
    this.#dueAt.set(delivery.guid, this.#clock.now() + delayMs);
    this.#clock.after(delayMs + HOP_MS, () => this.#deliveries.add(delivery));
  }

  async #call({ delivery }: Call) {
    const receiver = this.#receiverOf(delivery.guid);
    const beganAt = this.#clock.now();
    this.#waited(delivery.guid, beganAt - (this.#dueAt.get(delivery.guid) ?? beganAt));
    this.#dueAt.delete(delivery.guid);
    this.#slotsUsed += 1;
    const limitMs = LIMIT_MS[delivery.interface];
    const durationMs = Math.min(receiver.answerMs(beganAt, this.#options.random), limitMs);
    await this.#clock.sleep(durationMs);
    this.#slotsUsed -= 1;
    if (durationMs < limitMs) return { isDelivered: true, status: 200, durationMs };
    this.#retry(delivery);
    return { isDelivered: false, reason: 'response_timeout', durationMs };
  }

  #retry(delivery: Delivery): void {
    const delayMs = SCHEDULE[delivery.interface][delivery.attempt - 1];
    if (delayMs !== undefined) this.#arrive({ ...delivery, attempt: delivery.attempt + 1 }, delayMs);
  }

  /** Only what was put aside: retries are made where the answer is known. */
  #publish(delivery: Delivery, caused: Outgoing[]): void {
    for (const outgoing of caused) {
      if (outgoing.kind !== 'publish' || outgoing.exchange !== waitingExchange) continue;
      const lane = outgoing.routingKey === 'hung' ? 'hung' : 'busy';
      this.#result.putAside[lane] += 1;
      this.#clock.after(HOP_MS, () => this.#lanes[lane].add(delivery));
    }
  }

  #waited(guid: string, waitMs: number): void {
    const { kind } = this.#receiverOf(guid);
    const waits = this.#result.waitsMs.get(kind) ?? [];
    waits.push(waitMs);
    this.#result.waitsMs.set(kind, waits);
  }

  #receiverOf(guid: string): Receiver {
    const receiver = this.#options.receivers[Number.parseInt(guid, 10)];
    if (receiver === undefined) throw new Error(`no receiver of ${guid}`);
    return receiver;
  }

  #sample(): void {
    this.#clock.after(1_000, () => {
      this.#result.slotsUsed.push(this.#slotsUsed);
      this.#sample();
    });
  }
}

/** A queue and who takes from it, holding no more than so many at once. */
class Station {
  readonly #handle: Handler<Delivery>;
  readonly #held: number;
  readonly #publish: (delivery: Delivery, caused: Outgoing[]) => void;
  #queue: Delivery[] = [];
  #first = 0;
  #inHand = 0;

  constructor(handle: Handler<Delivery>, held: number, publish: (delivery: Delivery, caused: Outgoing[]) => void) {
    this.#handle = handle;
    this.#held = held;
    this.#publish = publish;
  }

  add(delivery: Delivery): void {
    this.#queue.push(delivery);
    this.#take();
  }

  #take(): void {
    while (this.#inHand < this.#held && this.#first < this.#queue.length) {
      const delivery = this.#queue[this.#first++];
      if (delivery !== undefined) void this.#settle(delivery);
    }
    if (this.#first < 1_000 || this.#first < this.#queue.length / 2) return;
    this.#queue = this.#queue.slice(this.#first);
    this.#first = 0;
  }

  async #settle(delivery: Delivery): Promise<void> {
    this.#inHand += 1;
    this.#publish(delivery, await this.#handle(delivery));
    this.#inHand -= 1;
    this.#take();
  }
}

/** The comparison: a slot for whoever comes first. */
function plainSlots(slots: number): () => Promise<Entry> {
  let used = 0;
  const waiting: ((entry: Entry) => void)[] = [];
  const end = () => {
    const next = waiting.shift();
    if (next === undefined) used -= 1;
    else next({ kind: 'granted', end });
  };
  return async () => {
    if (used >= slots) return new Promise((resolve) => waiting.push(resolve));
    used += 1;
    return { kind: 'granted', end };
  };
}

function targetOf(subscription: string): Target {
  const callbackUrl = `https://${subscription}.example/callback`;
  return {
    state: 'active',
    isFeatureOn: true,
    account: subscription,
    callbackUrl,
    verificationToken: '',
    signingSecrets: [],
  };
}
