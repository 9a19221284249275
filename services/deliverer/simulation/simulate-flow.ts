import { publishDelivery, wait, type Delivery } from '@waybell/line/delivery';
import { lineTopology } from '@waybell/line/line-topology';
import type { Source } from '@waybell/line/messages';
import { runStep } from '@waybell/line/run-step';
import { readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { MemoryBroker } from '@waybell/line/testing/memory-broker';
import { goOn, MemoryLink } from '@waybell/line/testing/memory-link';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import { deactivatorQueue, logQueue } from '@waybell/line/topology';
import type { WaitingReason } from '@waybell/line/outcomes';
import { readEnvironment } from '@waybell/runtime/environment';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { AttemptRequest, OnAttempted } from '../request/attempt.ts';
import { makeDeliverer } from '../deliverer.ts';
import { endpointKey } from '../endpoints/endpoint.ts';
import type { EndpointsOptions } from '../endpoints/endpoints.ts';
import type { DeliveryTarget } from '../find-target.ts';
import { retryDelayMs } from '../retry-schedule.ts';
import { aDelivery } from '../testing/delivery.ts';
import type { Receiver } from './receivers.ts';

export type SimulationOptions = {
  receivers: readonly Receiver[];
  endpoints: EndpointsOptions;
  /** Deliveries come for this long; then the simulation ends. */
  durationMs: number;
  held: number;
  /** Deliveries for the first receiver that wait from the start. */
  waitingBefore?: number;
  random: () => number;
};

/** Each attempt's wait beyond its due time, by kind of receiver; Infinity if it was still waiting at the end. */
export type Simulated = {
  waitsMs: Map<string, number[]>;
  /** Slots in use, once a second. */
  slotsUsed: number[];
  /** Number of deliveries that had to wait, by why. */
  put: Partial<Record<WaitingReason, number>>;
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
  /** Due time of each delivery that waits for an attempt. */
  readonly #dueAt = new Map<string, number>();
  #slotsUsed = 0;
  #made = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const clock = this.#clock;
    const [broker, now] = [this.#link.asBroker, () => Math.round(clock.now())];
    const findTargets = async (guids: readonly string[]) => guids.map((guid) => this.#targetOf(guid));
    this.#waiting = new MemoryWaiting(now);
    const most = { rows: Infinity, bytes: Infinity };
    const held = { messages: options.held / 2, bytes: BYTES };
    const { flow, step } = makeDeliverer({
      config: {
        actionKeys: ['carrier.order.created', 'shipper.order.created'],
        heldLimit: { messages: options.held, bytes: BYTES },
        flow: options.endpoints,
        waiting: { held, ofAccount: most, allBytes: Infinity },
        schedule,
        maxAgeMs: Infinity,
        rememberMs: Infinity,
      },
      store: this.#waiting.storeFor('the deliverer'),
      deliverers: { live: async () => 1, leave: async () => undefined },
      onPut: (why) => void (this.#put[why] = (this.#put[why] ?? 0) + 1),
      findTargets,
      callEndpoint: (call, onEnd) => this.#call(call, onEnd),
      broker,
      log,
      clock,
      now,
    });
    runStep(step, { broker, log, metrics, clock, ...flow.tools });
    const forgetting = { onTaken: (source: Source) => source.acknowledge(), onCut: () => undefined };
    broker.consume([deactivatorQueue, logQueue], { messages: 1, bytes: BYTES }, forgetting);
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
    return { waitsMs: this.#waitsMs, slotsUsed, put: this.#put };
  }

  #load(receiver: Receiver, place: number, delayMs: number): void {
    this.#clock.after(delayMs, () => {
      for (let count = 0; count < receiver.burst; count += 1) this.#arrive(receiver, place);
      this.#load(receiver, place, -Math.log(1 - this.#options.random()) * receiver.everyMs);
    });
  }

  #arrive(receiver: Receiver, place: number): void {
    const delivery = this.#make(receiver, place);
    this.#dueAt.set(delivery.guid, this.#clock.now());
    this.#broker.publish(publishDelivery(delivery));
  }

  #make({ interface: interfaceName }: Receiver, place: number): Delivery {
    this.#made += 1;
    const at = Math.round(this.#clock.now());
    const subscription = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
    const what = { interface: interfaceName, subscription, body: NOTHING, createdAt: at, beganAt: at };
    return aDelivery({ guid: `${place} ${this.#made}`, ...what });
  }

  /** Has deliveries for the first receiver wait, made before the simulation began. */
  async #putBefore(count: number): Promise<void> {
    const [receiver] = this.#options.receivers;
    if (receiver === undefined) return;
    const made = Array.from({ length: count }, (_, createdAt) => ({ ...this.#make(receiver, 0), createdAt }));
    const rows = made.map((delivery) => {
      const { endpoint, account } = endpointKey(this.#targetOf(delivery.subscription));
      return wait({ ...delivery, room: { room: endpoint, account } }, { why: 'hung' }).row;
    });
    await this.#waiting.storeFor('before').put(rows);
  }

  #call({ delivery }: AttemptRequest, onEnd: OnAttempted): void {
    const { guid, interface: interfaceName } = delivery;
    const beganAt = this.#clock.now();
    this.#waited(guid, beganAt - (this.#dueAt.get(guid) ?? beganAt));
    this.#dueAt.delete(guid);
    this.#slotsUsed += 1;
    const limitMs = LIMIT_MS[interfaceName];
    const durationMs = Math.min(this.#receiverOf(guid).answerMs(beganAt, this.#options.random), limitMs);
    this.#clock.after(durationMs, () => {
      this.#slotsUsed -= 1;
      if (durationMs < limitMs) return onEnd({ isDelivered: true, status: 200, durationMs });
      const delayMs = retryDelayMs(schedule, delivery);
      if (delayMs !== undefined) this.#dueAt.set(guid, this.#clock.now() + delayMs);
      onEnd({ isDelivered: false, reason: 'response_timeout', durationMs });
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

  #targetOf(subscription: string): DeliveryTarget {
    const { account = subscription, host = subscription } = this.#receiverOf(subscription.slice(-12));
    return {
      state: 'active',
      isFeatureOn: true,
      reportsSuccess: false,
      account,
      callbackUrl: `https://${host}.example/${subscription}`,
      verificationToken: '',
      signingSecrets: [],
    };
  }

  #everySecond(look: () => void): void {
    this.#clock.after(1_000, () => {
      look();
      this.#everySecond(look);
    });
  }
}
