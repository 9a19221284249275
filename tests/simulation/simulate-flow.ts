import { publishDelivery, wait, type Delivery } from '@waybell/line/delivery';
import { lineTopology, readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { isRejection, type Source } from '@waybell/line/messages';
import { runStep } from '@waybell/line/run-step';
import { MemoryBroker } from '@waybell/line/testing/memory-broker';
import { goOn, MemoryLink } from '@waybell/line/testing/memory-link';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import { deactivatorQueue, logQueue } from '@waybell/line/topology';
import { readEnds, readOutcomes } from '@waybell/line/outcome-batch';
import type { Delivered, DeliveryEnd, Dropped, Exhausted, WaitingReason } from '@waybell/line/outcomes';
import { readEnvironment } from '@waybell/runtime/environment';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { AttemptRequest, OnAttempted } from '@waybell/deliverer/request/attempt';
import { makeDeliverer } from '@waybell/deliverer/deliverer';
import { endpointKey } from '@waybell/deliverer/flow/endpoint';
import type { EndpointsOptions } from '@waybell/deliverer/flow/endpoints';
import { retryDelayMs } from '@waybell/deliverer/deliver';
import { aDelivery } from '@waybell/deliverer/testing/delivery';
import { NO_TOKENS } from '@waybell/deliverer/testing/no-tokens';
import type { Receiver } from './receivers.ts';
import { numberOf, SimulatedSubscriptions, subscriptionOf } from './subscriptions.ts';

export type SimulationOptions = {
  receivers: readonly Receiver[];
  endpoints: EndpointsOptions;
  /** The simulation ends then; deliveries come until `loadMs`, or until the end. */
  durationMs: number;
  loadMs?: number;
  held: number;
  /** Deliveries for the first receiver that wait from the start. */
  waitingBefore?: number;
  random: () => number;
  /** How long Postgres takes to answer; absent: no time. */
  postgresMs?: () => number;
  /** Older deliveries expire. */
  maxAgeMs?: number;
};

/** `place`: of its receiver. `madeAt`: when the delivery came, `dueAt`: when it was to be attempted, `beganAt`: when it was. */
export type SimulatedAttempt = { place: number; attempt: number; madeAt: number; dueAt: number; beganAt: number };

/** Each attempt's wait beyond its due time, by kind of receiver; Infinity if it was still waiting at the end. */
export type Simulated = {
  waitsMs: Map<string, number[]>;
  /** Slots in use, once a second. */
  slotsUsed: number[];
  /** Number of deliveries that had to wait, by why. */
  put: Partial<Record<WaitingReason, number>>;
  attempts: SimulatedAttempt[];
  /** Deliveries that came, and those that ended, by receiver. */
  came: Map<number, number>;
  ended: (Delivered | Exhausted | Dropped)[];
  /** Ends published for the deactivator. */
  ends: DeliveryEnd[];
};

const LIMIT_MS = { carrier: 3_000, shipper: 60_000 };
const BYTES = Number.MAX_SAFE_INTEGER;
const NOTHING = Buffer.alloc(0);
const schedule = readSchedule(readEnvironment(scheduleSettings, {}));
const log = createLog({ service: 'simulation', level: 'silent' });
const metrics = createMetrics('simulation');

/** Runs the deliverer's steps on a broker in memory, with numbers as receivers and a turned clock. */
export async function simulateFlow(options: SimulationOptions): Promise<Simulated> {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock = new TurnedClock();
  readonly #broker = new MemoryBroker(lineTopology({ schedule, eventsLimitBytes: BYTES, quorumSize: 1 }), this.#clock);
  readonly #link = new MemoryLink(this.#broker);
  readonly #waiting: MemoryWaiting;
  readonly #put: Simulated['put'] = {};
  readonly #waitsMs: Simulated['waitsMs'] = new Map();
  readonly #attempts: SimulatedAttempt[] = [];
  readonly #came: Simulated['came'] = new Map();
  readonly #ended: Simulated['ended'] = [];
  readonly #ends: DeliveryEnd[] = [];
  readonly #subscriptions: SimulatedSubscriptions;
  /** Due time of each delivery that waits for an attempt. */
  readonly #dueAt = new Map<string, number>();
  #slotsUsed = 0;
  #made = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const clock = this.#clock;
    const [broker, now] = [this.#link.asBroker, () => Math.round(clock.now())];
    this.#waiting = new MemoryWaiting(now);
    const { receivers, postgresMs, maxAgeMs = Infinity } = options;
    this.#subscriptions = new SimulatedSubscriptions({ receivers, postgresMs, waiting: this.#waiting, clock });
    const most = { rows: Infinity, bytes: Infinity };
    const inHandLimit = { messages: options.held / 2, bytes: BYTES };
    const { flow, step } = makeDeliverer({
      config: {
        actionKeys: ['carrier.order.created', 'shipper.order.created'],
        inHandLimit: { messages: options.held, bytes: BYTES },
        flow: options.endpoints,
        waiting: { inHandLimit, ofAccount: most, allBytes: Infinity },
        schedule,
        maxAgeMs,
        rememberMs: Infinity,
      },
      store: this.#subscriptions.slowly(this.#waiting.storeFor('the deliverer')),
      deliverers: { live: async () => 1, leave: async () => undefined },
      onPut: (why) => void (this.#put[why] = (this.#put[why] ?? 0) + 1),
      findTargets: this.#subscriptions.find,
      tokens: NO_TOKENS,
      callEndpoint: (call, onEnd) => this.#call(call, onEnd),
      broker,
      log,
      clock,
      now,
    });
    runStep(step, { broker, log, metrics, clock, ...flow.tools });
    const noting = { onTaken: (source: Source) => this.#note(source), onCut: () => undefined };
    broker.consume([deactivatorQueue, logQueue], { messages: 1, bytes: BYTES }, noting);
  }

  async run(): Promise<Simulated> {
    const { receivers, durationMs: end, waitingBefore = 0, random } = this.#options;
    await this.#putBefore(waitingBefore);
    for (const [place, receiver] of receivers.entries()) this.#load(receiver, place, random() * receiver.everyMs);
    const slotsUsed: number[] = [];
    this.#everySecond(() => slotsUsed.push(this.#slotsUsed));
    const turning = { clock: this.#clock, links: [this.#link], end };
    for (let isGoingOn = true; isGoingOn;) isGoingOn = await goOn(turning);
    for (const [guid, dueAt] of this.#dueAt) if (dueAt <= end) this.#waited(guid, Infinity);
    const noted = { attempts: this.#attempts, came: this.#came, ended: this.#ended, ends: this.#ends };
    return { waitsMs: this.#waitsMs, slotsUsed, put: this.#put, ...noted };
  }

  #note(source: Source): void {
    for (const { queue, body } of source.messages) {
      const read = queue === deactivatorQueue ? readEnds({ body }) : [];
      if (!isRejection(read)) this.#ends.push(...read);
      if (queue === logQueue)
        for (const outcome of readOutcomes(body))
          if (outcome.kind === 'delivered' || outcome.kind === 'exhausted' || outcome.kind === 'dropped')
            this.#ended.push(outcome);
    }
    source.acknowledge();
  }

  #load(receiver: Receiver, place: number, delayMs: number): void {
    const { loadMs = Infinity } = this.#options;
    if (this.#clock.now() + delayMs > loadMs) return;
    this.#clock.after(delayMs, () => {
      for (let count = 0; count < receiver.burst; count += 1) this.#arrive(receiver, place);
      this.#load(receiver, place, -Math.log(1 - this.#options.random()) * receiver.everyMs);
    });
  }

  #arrive(receiver: Receiver, place: number): void {
    const delivery = this.#make(receiver, place);
    this.#dueAt.set(delivery.guid, this.#clock.now());
    this.#came.set(place, (this.#came.get(place) ?? 0) + 1);
    this.#broker.publish(publishDelivery(delivery));
  }

  #make({ interface: interfaceName }: Receiver, place: number): Delivery {
    this.#made += 1;
    const at = Math.round(this.#clock.now());
    const what = {
      interface: interfaceName,
      subscription: subscriptionOf(place),
      body: NOTHING,
      createdAt: at,
    };
    return aDelivery({ guid: `${place} ${this.#made}`, ...what, beganAt: at });
  }

  /** Puts deliveries for the first receiver into its room, made before the simulation began. */
  async #putBefore(count: number): Promise<void> {
    const [receiver] = this.#options.receivers;
    if (receiver === undefined) return;
    const made = Array.from({ length: count }, (_, createdAt) => ({ ...this.#make(receiver, 0), createdAt }));
    const rows = made.map((delivery) => {
      const { endpoint, account } = endpointKey(this.#subscriptions.target(delivery.subscription));
      return wait({ ...delivery, room: { room: endpoint, account } }, { why: 'hung' }).row;
    });
    await this.#waiting.storeFor('before').put(rows);
  }

  #call({ delivery }: AttemptRequest, onEnd: OnAttempted): void {
    const { guid, interface: interfaceName } = delivery;
    const beganAt = this.#clock.now();
    const dueAt = this.#dueAt.get(guid) ?? beganAt;
    const { subscription, attempt, createdAt: madeAt } = delivery;
    this.#attempts.push({ place: numberOf(subscription), attempt, madeAt, dueAt, beganAt });
    this.#waited(guid, beganAt - dueAt);
    this.#dueAt.delete(guid);
    this.#slotsUsed += 1;
    const limitMs = LIMIT_MS[interfaceName];
    const durationMs = Math.min(this.#receiverOf(guid).answerMs(beganAt, this.#options.random), limitMs);
    this.#clock.after(durationMs, () => {
      this.#slotsUsed -= 1;
      const tooMuch = this.#receiverOf(guid).refuses?.(beganAt);
      if (durationMs < limitMs && tooMuch === undefined) return onEnd({ isDelivered: true, status: 200, durationMs });
      const delayMs = retryDelayMs(schedule, delivery);
      if (delayMs !== undefined) this.#dueAt.set(guid, this.#clock.now() + delayMs);
      if (tooMuch !== undefined) onEnd({ isDelivered: false, status: 429, reason: 'http_4xx', durationMs, tooMuch });
      else onEnd({ isDelivered: false, reason: 'response_timeout', durationMs });
    });
  }

  #waited(guid: string, waitMs: number): void {
    const { kind } = this.#receiverOf(guid);
    const waits = this.#waitsMs.get(kind) ?? [];
    waits.push(waitMs);
    this.#waitsMs.set(kind, waits);
  }

  #receiverOf(guid: string): Receiver {
    const receiver = this.#options.receivers[Number.parseInt(guid, 10)];
    if (receiver === undefined) throw new Error(`no receiver of ${guid}`);
    return receiver;
  }

  #everySecond(look: () => void): void {
    this.#clock.after(1_000, () => {
      look();
      this.#everySecond(look);
    });
  }
}
