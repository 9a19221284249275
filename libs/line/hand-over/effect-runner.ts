/**
 * Runs the effects that the hand-over returns on real servers, and applies their results. The classes below `EffectRunner` are its
 * parts: batches that take too long, returns that were no crash, and promises about its state.
 */
import { hash } from 'node:crypto';
import type { Clock, Timer } from '@waybell/runtime/clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker, ConsumeCallbacks } from '../broker.ts';
import {
  type Handler,
  type Message,
  noResult,
  type Publication,
  type Source,
  Stalled,
  Unconfirmed,
  type Waiting,
} from '../messages.ts';
import type { Once } from '../once.ts';
import type { StepReport, StepSpans } from '../step-report.ts';
import { type Gathering, HandlerRuns, TurnGatherer } from './gatherers.ts';
import { mayBegin, step } from './hand-over.ts';
import { FLUSH_MS, isCurrent } from './sendings.ts';
import { type Effect, emptyState, type Input, type Report, type StepRules } from './state.ts';
import type { Lane } from './suspicion.ts';

export type HandOverTools<M = unknown> = {
  broker: Broker;
  once?: Once;
  /** Puts a delivery into its room. Resolves when it is safe. Rejects with `Unavailable` if it is not, or may not be. */
  putDelivery?: (waiting: Waiting) => Promise<void>;
  /** Puts into a room a publication that the broker does not take now. Resolves and rejects likewise. */
  putPublication?: (publication: Publication) => Promise<void>;
  /** Cuts sources whose claims have ended by now: in a process that stood still, timers are late. Called before each input. */
  expireClaims?: () => void;
  /** Stores slow members of a batch; if absent, the batch waits for them. */
  storeRunning?: StoreRunning<M>;
  now?: () => number;
};

/**
 * Stores a running message, and its parsed form, where another process finds it if this one dies. Acknowledging the returned
 * source deletes it there. Resolves with undefined if it cannot be stored. Never rejects.
 */
export type StoreRunning<M> = (
  of: { message: Message; parsed: M },
  onCut: (source: Source) => void,
) => Promise<Source | undefined>;

type EffectTools<M> = HandOverTools<M> & {
  clock: Clock;
  report: StepReport<M>;
  /** Absent if tracing is off. */
  spans?: StepSpans<M> | undefined;
  /** Runs when a dependency is away and the step has to wait. */
  onUnavailable: (error: Unavailable) => void;
  /** Runs when a redelivered message is in hand, and when none is any more. */
  onRedelivered: (isInHand: boolean) => void;
};

type HandledStep<M> = Omit<StepRules<M>, 'now' | 'hasRooms'> & { handle: Handler<M>; gathering?: Gathering<M> };

/**
 * A source in hand: the lane it was taken from, when, and how many messages it has. `traced`: its messages, only if spans are
 * recorded; each is in memory until it has left, and not for as long as its neighbours.
 */
type InHand = { source: Source; size: number; traced?: readonly Message[]; lane: Lane; at: number };

type Do<K extends Effect<never>['kind'], M = never> = Effect<M> & { kind: K };

/** Weight of the newest message of deliveries in the mean size. */
const WEIGHT = 1 / 64;

/**
 * Runs the effects of the hand-over and applies their results: together what one turn of the event loop brings, be it messages,
 * confirms or ends of requests.
 */
export class EffectRunner<M> {
  readonly #rules: StepRules<M>;
  readonly #tools: EffectTools<M>;
  readonly #state = emptyState<M>();
  readonly #inHand = new Map<number, InHand>();
  readonly #returns = new SeenReturns();
  /** Redelivered sources of its queues and rooms. */
  readonly #redelivered = new Set<number>();
  readonly #runs: HandlerRuns<M>;
  readonly #slow: SlowBatches;
  readonly #conditions = new Conditions();
  readonly #gatherer: TurnGatherer;
  /** Sources that this turn of the event loop has brought so far. */
  #arrived: number[] = [];
  #flushTimer: Timer | undefined;
  taken = 0;
  /** Mean number of deliveries in the messages that were published last. */
  perBatch = 1;

  constructor({ handle, gathering, ...rules }: HandledStep<M>, tools: EffectTools<M>) {
    this.#rules = { ...rules, hasRooms: tools.putPublication !== undefined, now: tools.now ?? Date.now };
    this.#tools = tools;
    const apply = (input: Input) => this.apply(input);
    this.#gatherer = new TurnGatherer(apply);
    this.#runs = new HandlerRuns({
      handle,
      gathering,
      once: rules.once && tools.once,
      state: this.#state,
      gatherer: this.#gatherer,
      clock: tools.clock,
      apply,
      expireClaims: () => tools.expireClaims?.(),
      onUnavailable: tools.onUnavailable,
      onDone: (message) => tools.spans?.returned(message),
    });
    const onSlow = (sources: ReadonlySet<number>) => apply({ kind: 'slow', sources });
    this.#slow = new SlowBatches({ inHand: this.#inHand, clock: tools.clock, onSlow });
    this.#state.broker = tools.broker.state();
    tools.broker.onState((is) => this.apply({ kind: 'broker', is }));
  }

  /** Returns callbacks for a consumer of this lane. */
  taking(lane: Lane): ConsumeCallbacks {
    return {
      onTaken: (source) => {
        this.taken += 1;
        this.#returns.countCrashes(source);
        this.#take(source, lane);
      },
      onCut: (source) => {
        this.#returns.note(source);
        if (this.#arrived.includes(source.id)) this.#release(source.id);
        this.apply({ kind: 'cut', source: source.id });
      },
    };
  }

  get mayBegin(): boolean {
    return mayBegin({ state: this.#state, rules: this.#rules });
  }

  apply(input: Input): void {
    if (input.kind !== 'cut') this.#tools.expireClaims?.();
    for (const effect of step(this.#state, input, this.#rules)) this.#do(effect);
    this.#conditions.check();
  }

  /** Number of messages taken and not yet acknowledged, given back or forgotten. */
  get inHand(): number {
    return this.#inHand.size;
  }

  /** At the end: gives back the messages whose handlers are at work; their results are ignored. Returns how many. */
  cut(): number {
    this.#gatherer.applyEnded();
    const members = [...this.#state.members.values()].filter(({ isRunning }) => isRunning).map(({ id }) => id);
    this.apply({ kind: 'threw', members, why: noResult(new Unavailable('time', () => Promise.resolve())) });
    return members.length;
  }

  /** Gives back everything still in hand, in whatever state. Returns how many sources. */
  giveBackAll(): number {
    const left = [...this.#inHand.keys()];
    for (const source of left) {
      this.#giveBack(source);
      this.apply({ kind: 'cut', source });
    }
    return left.length;
  }

  untilEmpty(): Promise<void> {
    return this.#conditions.until(() => this.inHand === 0);
  }

  #take(source: Source, lane: Lane): void {
    this.#inHand.set(source.id, { source, size: 0, lane, at: this.#tools.clock.now() });
    // The socket brings several at once.
    if (this.#arrived.push(source.id) === 1) process.nextTick(() => this.#applyArrived());
  }

  #applyArrived(): void {
    const arrived = this.#arrived;
    this.#arrived = [];
    const sources = [];
    for (const id of arrived) {
      const taken = this.#inHand.get(id);
      if (taken === undefined) continue;
      let { messages } = taken.source;
      taken.size = messages.length;
      if (taken.lane === 'queue' && messages.some(isRedelivered)) this.#noteRedelivered(id);
      if (this.#tools.spans !== undefined) messages = taken.traced = this.#tools.spans.begin(messages);
      sources.push({ id, lane: taken.lane, messages });
      if (taken.size > 1 && this.#tools.storeRunning !== undefined) this.#slow.watch();
    }
    if (sources.length > 0) this.apply({ kind: 'came', sources });
  }

  #noteRedelivered(id: number): void {
    if (this.#redelivered.add(id).size === 1) this.#tools.onRedelivered(true);
  }

  #giveBack(id: number): void {
    const source = this.#release(id);
    if (source === undefined) return;
    this.#returns.note(source);
    source.giveBack();
  }

  #do(effect: Effect<M>): void {
    if ('afterMs' in effect && effect.afterMs > 0) this.#doLater(effect, effect.afterMs);
    else this.#doNow(effect);
  }

  #doNow(effect: Effect<M>): void {
    switch (effect.kind) {
      case 'remember':
        return void this.#remember(effect);
      case 'put':
        return void this.#put(effect);
      case 'store':
        return void this.#store(effect);
      case 'run':
        return this.#runs.add(effect, effect);
      case 'publish':
        return this.#publish(effect);
      case 'acknowledge':
        for (const source of effect.sources) this.#acknowledge(source);
        return;
      case 'give back':
        return this.#giveBack(effect.source);
      case 'forget':
        return void this.#release(effect.source);
      case 'flush later':
        return this.#flushLater();
      case 'wait for broker':
        return this.#waitForBroker();
      case 'report':
        return this.#report(effect.report);
    }
  }

  #doLater(effect: Effect<M>, delayMs: number): void {
    this.#tools.clock.after(delayMs, () => {
      // Meanwhile it may have been put into a room, or taken back.
      if ('sending' in effect && !this.#isCurrent(effect.sending))
        return this.apply({ kind: 'unconfirmed', sending: effect.sending });
      this.#doNow(effect);
    });
  }

  #isCurrent(sending: number): boolean {
    this.#tools.expireClaims?.();
    return isCurrent({ state: this.#state }, sending);
  }

  #waitForBroker(): void {
    // Waits for `mayBegin`, not for a writable broker: a step that drains would wait for the end of the alarm it drains.
    this.#tools.onUnavailable(new Unavailable('rabbitmq', () => this.#conditions.until(() => this.mayBegin)));
  }

  #publish({ sending, publication, deliveries }: Do<'publish'>): void {
    if (deliveries > 0) {
      this.#tools.report.batched(deliveries);
      this.perBatch += (deliveries - this.perBatch) * WEIGHT;
    }
    this.#tools.broker.send(publication, (error) => this.#settled(sending, error));
  }

  #settled(sending: number, error: unknown): void {
    if (error === undefined) this.#gatherer.confirmed(sending);
    else if (error instanceof Stalled) this.apply({ kind: 'stalled', sending });
    else if (error instanceof Unconfirmed || error instanceof Unavailable) this.apply({ kind: 'unconfirmed', sending });
    else this.apply({ kind: 'refused', sending, error });
  }

  #flushLater(): void {
    this.#flushTimer?.[Symbol.dispose]();
    this.#flushTimer = this.#tools.clock.after(FLUSH_MS, () => this.apply({ kind: 'flush due' }));
  }

  async #put({ sending, what }: Do<'put'>): Promise<void> {
    const { putDelivery, putPublication } = this.#tools;
    let error: unknown;
    try {
      const put = what.kind === 'wait' ? putDelivery?.(what) : putPublication?.(what);
      if (put === undefined) throw new Error('this step has no room where that may wait');
      await put;
    } catch (thrown) {
      error = thrown;
    }
    this.#settled(sending, error);
  }

  async #remember({ members, marks }: Do<'remember'>): Promise<void> {
    await this.#tools.once?.remember(marks, this.#rules.once?.ttlMs ?? 0);
    this.apply({ kind: 'remembered', members });
  }

  async #store({ member, message, parsed }: Do<'store', M>): Promise<void> {
    const { source: batchId = 0 } = this.#state.members.get(member) ?? {};
    const at = this.#inHand.get(batchId)?.at ?? this.#tools.clock.now();
    const source = await this.#tools.storeRunning?.({ message, parsed }, this.taking('queue').onCut);
    if (source !== undefined) {
      const batch = this.#inHand.get(batchId);
      if (batch?.traced !== undefined) batch.traced = batch.traced.filter((each) => each !== message);
      this.#inHand.set(source.id, { source, size: 1, traced: [message], lane: 'queue', at });
    }
    this.apply({ kind: 'stored', member, source: source?.id });
  }

  #report(report: Report<M>): void {
    this.#tools.spans?.record(report);
    const now = this.#tools.clock.now();
    this.#tools.report.record(report, ({ source }) => now - (this.#inHand.get(source)?.at ?? now));
  }

  #acknowledge(id: number): void {
    const source = this.#release(id);
    if (source === undefined) return;
    this.#returns.forget(source);
    source.acknowledge();
  }

  #release(id: number): Source | undefined {
    const taken = this.#inHand.get(id);
    this.#inHand.delete(id);
    if (taken?.traced !== undefined) this.#tools.spans?.release(taken.traced);
    if (this.#redelivered.delete(id) && this.#redelivered.size === 0) this.#tools.onRedelivered(false);
    this.#conditions.check();
    return taken?.source;
  }
}

/** Whether it may have been in hand when a process died. */
function isRedelivered({ deliveryCount, cameBefore, crashes = 0 }: Message): boolean {
  return deliveryCount > 0 || cameBefore === true || crashes > 0;
}

/** Time after which the running members of a batch are put into another store; and the interval of the checks. */
const SLOW_MS = 1_500;
const CHECK_MS = 250;

type SlowBatchesOptions = {
  inHand: ReadonlyMap<number, InHand>;
  clock: Clock;
  onSlow: (sources: ReadonlySet<number>) => void;
};

/** Reports batches in hand for too long. No timer runs while no batch is in hand. */
class SlowBatches {
  readonly #options: SlowBatchesOptions;
  #isWatching = false;

  constructor(options: SlowBatchesOptions) {
    this.#options = options;
  }

  /** Starts the checks: a batch is in hand. */
  watch(): void {
    if (this.#isWatching) return;
    this.#isWatching = true;
    this.#options.clock.after(CHECK_MS, () => this.#check()).unref();
  }

  #check(): void {
    const { inHand, clock, onSlow } = this.#options;
    this.#isWatching = false;
    const since = clock.now() - SLOW_MS;
    const slow = new Set<number>();
    let isAny = false;
    for (const { source, size, at } of inHand.values()) {
      if (size <= 1) continue;
      isAny = true;
      if (at <= since) slow.add(source.id);
    }
    if (isAny) this.watch();
    if (slow.size > 0) onSlow(slow);
  }
}

/** Exceeds what any step has in hand at once. */
const MOST_SEEN = 4_096;

/**
 * Counts how often messages returned to their queues from this process, which lives: its connection broke, or it gave them back. Any
 * other return may have been the crash of a process.
 */
export class SeenReturns {
  readonly #times = new Map<string, number>();

  /** Sets `crashes` of a redelivered message. */
  countCrashes({ raw }: Source): void {
    if (raw === undefined || raw.deliveryCount === 0) return;
    raw.crashes = Math.max(0, raw.deliveryCount - (this.#times.get(identityOf(raw)) ?? 0));
  }

  /** Notes that the message returned to its queue. */
  note({ raw }: Source): void {
    if (raw === undefined) return;
    const name = identityOf(raw);
    const times = (this.#times.get(name) ?? 0) + 1;
    this.#times.delete(name);
    this.#times.set(name, times);
    for (const oldest of this.#times.keys()) {
      if (this.#times.size <= MOST_SEEN) break;
      this.#times.delete(oldest);
    }
  }

  /** Forgets a message that is gone from its queue: a later message of the same name is another one. */
  forget({ raw }: Source): void {
    if (raw !== undefined && raw.deliveryCount > 0) this.#times.delete(identityOf(raw));
  }
}

/** Names a message the same at every delivery from this queue. */
function identityOf({ queue, messageId, note, body }: Message): string {
  const what = messageId === undefined ? hash('sha256', body) : `${messageId} ${note}`;
  return hash('sha256', `${queue} ${what}`).slice(0, 32);
}

/** Promises that resolve when a condition on local state holds. */
class Conditions {
  readonly #pending = new Set<() => void>();

  /** Checks all conditions, after a change of local state. */
  check(): void {
    // Mostly nothing waits; iterating over an empty set would make garbage for each input.
    if (this.#pending.size > 0) for (const check of this.#pending) check();
  }

  /** Resolves when the condition holds: now, or after a change. */
  until(isSo: () => boolean): Promise<void> {
    return new Promise((resolve) => {
      const check = () => {
        if (isSo() && this.#pending.delete(check)) resolve();
      };
      this.#pending.add(check);
      check();
    });
  }
}
