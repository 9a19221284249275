import type { BrokerState } from '@waybell/line/broker';
import type { Publication, Source, WaitingRow } from '@waybell/line/messages';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';
import { sleepOn, type Clock } from '@waybell/runtime/clock';
import { TurnedClock } from '@waybell/runtime/turned-clock';
import { silentLog } from '@waybell/runtime/testing/patience';
import { Unavailable } from '@waybell/runtime/unavailable';
import { endpointKey } from '../flow/endpoint.ts';
import type { DeliveryTarget, KnownTarget } from '../find-target.ts';
import { Flow, type FlowOptions } from '../flow/flow.ts';
import { aDelivery } from './delivery.ts';
import { ENDPOINTS } from './endpoints.ts';

export const SUBSCRIPTION = '0b9c2f6e-7d1f-4e57-8f5e-000000000001';
const ACCOUNT = '0b9c2f6e-7d1f-4e57-8f5e-000000000002';
const MAX_AGE_MS = 3_600_000;

export const TARGET: DeliveryTarget = {
  state: 'active',
  isFeatureOn: true,
  reportsSuccess: false,
  account: ACCOUNT,
  callbackUrl: 'https://example.com',
  verificationToken: 'token',
  signingSecrets: [],
};

/** A target of that name, a subscription of its own with an endpoint of its own. */
export function aTarget(name: string, what: Partial<DeliveryTarget> = {}): DeliveryTarget {
  return { ...TARGET, callbackUrl: `https://${name}.example`, ...what };
}

export const roomOf = (target: DeliveryTarget): string => endpointKey(target).endpoint;

/** A row of that name for a subscription, the older the smaller `madeAt`. */
export function aRow(
  name: string,
  what: Partial<WaitingRow> & { to?: DeliveryTarget; body?: Buffer } = {},
): WaitingRow {
  const { to = TARGET, body = Buffer.from('{}'), madeAt = 1, subscription = SUBSCRIPTION, ...more } = what;
  const { endpoint: room, account } = endpointKey(to);
  const delivery = aDelivery({ guid: name, createdAt: madeAt, subscription, body });
  return { room, account, madeAt, id: `${name} 1`, why: 'full', subscription, delivery, ...more };
}

/** How an endpoint answers what is sent there. */
export type Answers = (room: string) => { afterMs: number; isHung?: boolean };

/** Deliverers with one waiting room in memory, by a turned clock. */
export class SomeDeliverers implements AsyncDisposable {
  readonly clock = new TurnedClock();
  readonly waiting = new MemoryWaiting(this.clock.now);
  readonly store: WaitingStore = this.waiting.storeFor('the test');
  findTarget: (subscription: string) => KnownTarget = () => TARGET;
  living = 0;
  /** How long the store takes to answer; what goes away meanwhile has done what it was asked for, and does not say so. */
  lateMs = 0;
  readonly #takers = new Map<string, ADeliverer>();
  /** Names of rows that were taken while another had them in hand, by its own clock if that ran, or that one used after another took them. */
  readonly twice: string[] = [];
  readonly all: ADeliverer[] = [];

  /** Starts one more. */
  start(what: Partial<FlowOptions> & { answers?: Answers; handle?: Handle; slots?: number } = {}): ADeliverer {
    const started = new ADeliverer(this, what);
    this.all.push(started);
    return started;
  }

  /** Notes that a row is in hand of one. */
  takes(name: string, one: ADeliverer): void {
    const before = this.#takers.get(name);
    if (before !== undefined && !before.isFrozen && before.inHand.has(name)) this.twice.push(name);
    this.#takers.set(name, one);
  }

  /** Notes that one acts for a row that it has in hand. */
  uses(name: string, one: ADeliverer): void {
    if (this.#takers.get(name) !== one) this.twice.push(name);
  }

  /** Resolves when the store has answered. */
  async answersLate(): Promise<void> {
    await this.clock.sleep(this.lateMs / 2);
    if (this.waiting.isAway) throw new Unavailable('postgres', () => Promise.resolve());
  }

  /** Names of rows that any has ever taken, each as often as it was. */
  get names(): string[] {
    return this.all.flatMap(({ names }) => names);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const each of this.all) each.isFrozen = false;
    const stopped = Promise.all(this.all.map((each) => each.stop()));
    await this.clock.runFor(5_000);
    await stopped;
  }
}

/** Handles a row that was taken, in place of `Answers`. */
export type Handle = (source: Source, name: string, one: ADeliverer) => void;

const MUCH = { rows: 1_000_000, bytes: 2 ** 40 };

/** One deliverer. What it takes stays in hand until a test settles it, unless it is told how endpoints answer. */
export class ADeliverer {
  readonly flow: Flow;
  /** All sources ever taken, by the name of their row: the last of each. */
  readonly taken = new Map<string, Source>();
  readonly names: string[] = [];
  readonly cut: string[] = [];
  readonly published: Publication[] = [];
  /** How often it asked its store for what. */
  readonly asked = new Map<string, number>();
  state: BrokerState = 'writable';
  readonly consumer: ReturnType<Flow['tools']['takeRows']>;
  readonly #some: SomeDeliverers;
  /** Names of the rows in hand. */
  readonly inHand = new Set<string>();
  readonly clock: Clock;
  readonly #answers: Answers | undefined;
  readonly #listeners: ((state: BrokerState) => void)[] = [];
  #thawed: (() => void)[] = [];
  #isFrozen = false;
  #isStopped: Promise<void> | undefined;

  constructor(
    some: SomeDeliverers,
    { answers, handle, slots = ENDPOINTS.slots, ...what }: Parameters<SomeDeliverers['start']>[0] & object,
  ) {
    this.#some = some;
    this.#answers = answers;
    this.clock = this.#clock();
    some.living += 1;
    this.flow = new Flow({
      endpoints: { ...ENDPOINTS, slots },
      inHandLimit: { messages: 1_000, bytes: 2 ** 30 },
      limits: { ofAccount: MUCH, allBytes: MUCH.bytes },
      maxAgeMs: MAX_AGE_MS,
      store: this.#watched(some.waiting.storeFor(`deliverer ${some.all.length}`)),
      deliverers: { live: async () => some.living, leave: async () => void (some.living -= 1) },
      broker: {
        state: () => this.state,
        onState: (listener: (state: BrokerState) => void) => void this.#listeners.push(listener),
        publish: async (each: Publication) => void this.published.push(each),
      } as unknown as FlowOptions['broker'],
      findTargets: async (guids) => guids.map((guid) => some.findTarget(guid)),
      log: silentLog,
      clock: this.clock,
      now: some.clock.now,
      ...what,
    });
    this.consumer = this.flow.tools.takeRows({
      onTaken: (source) => {
        const name = nameOf(source);
        this.names.push(name);
        this.taken.set(name, source);
        some.takes(name, this);
        this.inHand.add(name);
        if (handle !== undefined) handle(source, name, this);
        else if (this.#answers !== undefined) this.#handle(source, this.#answers);
      },
      onCut: (source) => {
        this.cut.push(nameOf(source));
        this.inHand.delete(nameOf(source));
      },
    });
  }

  /** Whether its process stands still: no timer of its runs, and no answer of its store comes. */
  get isFrozen(): boolean {
    return this.#isFrozen;
  }

  set isFrozen(isFrozen: boolean) {
    this.#isFrozen = isFrozen;
    if (!isFrozen) for (const run of this.#thawed.splice(0)) run();
  }

  become(state: BrokerState): void {
    this.state = state;
    for (const listener of this.#listeners) listener(state);
  }

  /** Whether a row of that name is in hand, by its clock. */
  holds(name: string): boolean {
    this.flow.tools.expireClaims();
    return this.inHand.has(name);
  }

  acknowledge(source: Source): void {
    this.inHand.delete(nameOf(source));
    source.acknowledge();
  }

  giveBack(source: Source): void {
    this.inHand.delete(nameOf(source));
    source.giveBack();
  }

  /** Ends as a process that is told to: takes no more, finishes what is in hand, and releases its rooms. */
  stop(): Promise<void> {
    this.#isStopped ??= (async () => {
      await this.consumer.pause('closing');
      this.flow[Symbol.dispose]();
      await this.flow.released[Symbol.asyncDispose]();
    })();
    return this.#isStopped;
  }

  /** Sends it where the endpoint admits it; else it waits again. */
  #handle(source: Source, answers: Answers): void {
    const [message] = source.messages;
    const room = message?.waited?.room ?? '';
    const key = { account: ACCOUNT, endpoint: room, host: room };
    this.flow.admit(key, 'waited', (admission) => {
      if (admission.kind === 'full') {
        const row = { ...aRow(nameOf(source)), room, why: admission.why };
        return void this.flow.tools.putDelivery({ kind: 'wait', row }).then(() => this.acknowledge(source));
      }
      const { afterMs, isHung = false } = answers(room);
      this.#some.clock.after(afterMs, () => {
        admission.end(isHung ? 'hung' : 'quick');
        this.acknowledge(source);
      });
    });
  }

  #clock(): Clock {
    const { now, after } = this.#some.clock;
    const clock: Clock = {
      now,
      after: (delayMs, run) => after(delayMs, () => void this.#whenThawed().then(run)),
      sleep: (delayMs, signal) => sleepOn(clock, delayMs, signal),
    };
    return clock;
  }

  #watched(store: WaitingStore): WaitingStore {
    return new Proxy(store, {
      get:
        (of, name: keyof WaitingStore) =>
        async (...args: never[]) => {
          this.asked.set(name, (this.asked.get(name) ?? 0) + 1);
          if (this.#some.lateMs > 0) await this.#some.clock.sleep(this.#some.lateMs / 2);
          // Each function takes its own arguments.
          const answer = await (of[name] as (...given: never[]) => Promise<unknown>)(...args);
          if (this.#some.lateMs > 0) await this.#some.answersLate();
          await this.#whenThawed();
          return answer;
        },
    });
  }

  async #whenThawed(): Promise<void> {
    if (this.#isFrozen) await new Promise<void>((resolve) => this.#thawed.push(resolve));
  }
}

function nameOf({ messages }: Source): string {
  return messages[0]?.messageId ?? '';
}
