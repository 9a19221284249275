import { publishDelivery } from '@waybell/line/delivery';
import { lineTopology } from '@waybell/line/line-topology';
import type { Source } from '@waybell/line/messages';
import { runStep } from '@waybell/line/run-step';
import { readSchedule, scheduleSettings } from '@waybell/line/line-topology';
import { MemoryBroker } from '@waybell/line/testing/memory-broker';
import { goOn, MemoryLink } from '@waybell/line/testing/memory-link';
import { deactivatorQueue, logQueue, type WaitingLane } from '@waybell/line/topology';
import { readEnvironment } from '@waybell/runtime/environment';
import { createLog } from '@waybell/runtime/log';
import { createMetrics } from '@waybell/runtime/metrics';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Call } from '../call-endpoint.ts';
import { deliverStep, waitingStep } from '../deliver-step.ts';
import type { Target } from '../find-target.ts';
import { retryDelayMs } from '../retry-schedule.ts';
import { aDelivery } from '../testing/delivery.ts';
import { openFlow, type Flow, type FlowLimits } from '../windows/flow.ts';
import type { Entry } from '../windows/origin.ts';
import { Windows, type WindowsOptions } from '../windows/windows.ts';
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
const BYTES = Number.MAX_SAFE_INTEGER;
const NOTHING = Buffer.alloc(0);
const schedule = readSchedule(readEnvironment(scheduleSettings, {}));
const log = createLog({ service: 'simulation', level: 'silent' });
const metrics = createMetrics('simulation');

/** The deliverer's own steps on a broker in memory, at receivers that are numbers, by a clock that is turned. */
export async function simulateFlow(options: SimulationOptions): Promise<Simulated> {
  return new Simulation(options).run();
}

class Simulation {
  readonly #options: SimulationOptions;
  readonly #clock = new TurnedClock();
  readonly #broker = new MemoryBroker(lineTopology({ schedule, eventsLimitBytes: BYTES, quorumSize: 1 }), this.#clock);
  readonly #link = new MemoryLink(this.#broker);
  readonly #flow: Flow;
  readonly #waitsMs: Simulated['waitsMs'] = new Map();
  /** When the attempt is due of each delivery that waits for one. */
  readonly #dueAt = new Map<string, number>();
  #slotsUsed = 0;
  #made = 0;

  constructor(options: SimulationOptions) {
    this.#options = options;
    const limits = { ...options.flow, clock: this.#clock };
    const flow = openFlow(options.flow, this.#clock);
    this.#flow = options.hasWindows ? flow : { ...flow, windows: new NoWindows(limits) };
    const step = {
      findTarget: async (subscription: string) => targetOf(subscription),
      callEndpoint: (call: Call) => this.#call(call),
      flow: this.#flow,
      // A delivery says it in whole milliseconds.
      now: () => Math.round(this.#clock.now()),
      config: {
        actionKeys: ['carrier.order.created', 'shipper.order.created'],
        heldLimit: { messages: options.held, bytes: BYTES },
        flow: options.flow,
        schedule,
        maxAgeMs: Infinity,
        rememberMs: Infinity,
      },
    };
    const broker = this.#link.asBroker;
    runStep(deliverStep(step), { broker, log, metrics, clock: this.#clock });
    runStep(waitingStep(step), { broker, log, metrics, clock: this.#clock });
    const forgetting = { onTaken: (source: Source) => source.acknowledge(), onCut: () => undefined };
    broker.consume([deactivatorQueue, logQueue], { messages: 1, bytes: BYTES }, forgetting);
  }

  async run(): Promise<Simulated> {
    const { receivers, durationMs: end, random } = this.#options;
    for (const [place, receiver] of receivers.entries()) this.#load(receiver, place, random() * receiver.everyMs);
    const slotsUsed: number[] = [];
    this.#everySecond(() => slotsUsed.push(this.#slotsUsed));
    const turning = { clock: this.#clock, links: [this.#link], end };
    for (let isGoingOn = true; isGoingOn;) isGoingOn = await goOn(turning);
    for (const [guid, dueAt] of this.#dueAt) if (dueAt <= end) this.#waited(guid, Infinity);
    return { waitsMs: this.#waitsMs, slotsUsed, putAside: this.#flow.windows.figures().aside };
  }

  #load(receiver: Receiver, place: number, delayMs: number): void {
    this.#clock.after(delayMs, () => {
      for (let count = 0; count < receiver.burst; count += 1) this.#arrive(receiver, place);
      this.#load(receiver, place, -Math.log(1 - this.#options.random()) * receiver.everyMs);
    });
  }

  #arrive({ interface: interfaceName }: Receiver, place: number): void {
    this.#made += 1;
    const guid = `${place} ${this.#made}`;
    const at = Math.round(this.#clock.now());
    const subscription = `00000000-0000-4000-8000-${String(place).padStart(12, '0')}`;
    const times = { createdAt: at, beganAt: at };
    this.#dueAt.set(guid, this.#clock.now());
    this.#broker.publish(
      publishDelivery(aDelivery({ guid, interface: interfaceName, subscription, body: NOTHING, ...times })),
    );
  }

  async #call({ delivery }: Call) {
    const { guid, interface: interfaceName } = delivery;
    const beganAt = this.#clock.now();
    this.#waited(guid, beganAt - (this.#dueAt.get(guid) ?? beganAt));
    this.#dueAt.delete(guid);
    this.#slotsUsed += 1;
    const limitMs = LIMIT_MS[interfaceName];
    const durationMs = Math.min(this.#receiverOf(guid).answerMs(beganAt, this.#options.random), limitMs);
    await this.#clock.sleep(durationMs);
    this.#slotsUsed -= 1;
    if (durationMs < limitMs) return { isDelivered: true, status: 200, durationMs };
    const delayMs = retryDelayMs(schedule, delivery);
    if (delayMs !== undefined) this.#dueAt.set(guid, this.#clock.now() + delayMs);
    return { isDelivered: false, reason: 'response_timeout', durationMs } as const;
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

/** The comparison: a slot for whoever comes first. */
class NoWindows extends Windows {
  readonly #waiting: ((entry: Entry) => void)[] = [];
  #free: number;

  constructor(options: WindowsOptions) {
    super(options);
    this.#free = options.slots;
  }

  override enter(): Promise<Entry> {
    return new Promise((resolve) => {
      this.#waiting.push(resolve);
      this.#serve();
    });
  }

  #serve(): void {
    if (this.#free === 0) return;
    const grant = this.#waiting.shift();
    if (grant === undefined) return;
    this.#free -= 1;
    const end = () => {
      this.#free += 1;
      this.#serve();
    };
    grant({ kind: 'granted', end });
  }
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
