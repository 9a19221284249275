import type { Timer } from '@waybell/runtime/clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { ConsumeCallbacks } from '../broker.ts';
import { Stalled, Unconfirmed } from '../publish-errors.ts';
import type { HandlerInParts, Source } from '../messages.ts';
import { mayBegin, step } from './hand-over.ts';
import { OnceBatcher } from './once-batcher.ts';
import { CrashCounter } from './crash-counter.ts';
import { Conditions } from './conditions.ts';
import type { EffectTools } from './effect-tools.ts';
import { BatchPublisher } from './batch-publisher.ts';
import { SlowBundles, type InHand } from './slow-bundles.ts';
import { emptyState, type Effect, type Input, type Report, type StepRules } from './state.ts';
import type { Lane } from './suspicion.ts';

/** How long a record waits for others to travel with. */
const FLUSH_MS = 20;

type HandledStep<M> = Omit<StepRules<M>, 'now' | 'keeps'> & { handle: HandlerInParts<M> };
type Do<K extends Effect<never>['kind'], M = never> = Effect<M> & { kind: K };

/**
 * Runs the effects of the hand-over and applies their results. Batches what one turn of the event loop causes: one recall and one
 * remember in Redis, one acknowledgement per channel.
 */
export class EffectRunner<M> {
  readonly #handle: HandlerInParts<M>;
  readonly #rules: StepRules<M>;
  readonly #tools: EffectTools<M>;
  readonly #state = emptyState<M>();
  readonly #inHand = new Map<number, InHand>();
  readonly #crashes: CrashCounter;
  readonly #publishing: BatchPublisher;
  readonly #once: OnceBatcher;
  readonly #slow: SlowBundles;
  readonly #conditions = new Conditions();
  #isCut = false;
  #flushTimer: Timer | undefined;
  taken = 0;

  constructor({ handle, ...rules }: HandledStep<M>, tools: EffectTools<M>) {
    this.#handle = handle;
    this.#rules = { ...rules, keeps: tools.keep !== undefined, now: tools.now ?? Date.now };
    this.#tools = tools;
    const onSettled = (sending: number, error: unknown) => this.#settled(sending, error);
    const apply = (input: Input) => this.apply(input);
    this.#once = new OnceBatcher({ once: tools.once, ttlMs: rules.once?.ttlMs ?? 0, apply });
    this.#crashes = new CrashCounter(tools.deaths);
    const onSlow = (sources: ReadonlySet<number>) => apply({ kind: 'slow', sources });
    this.#slow = new SlowBundles({ inHand: this.#inHand, clock: tools.clock, onSlow });
    this.#publishing = new BatchPublisher({ ...tools, onSettled });
    this.#state.broker = tools.broker.state();
    tools.broker.onState((is) => this.apply({ kind: 'broker', is }));
  }

  /** Returns callbacks for a consumer of this lane. */
  taking(lane: Lane): ConsumeCallbacks {
    return {
      onTaken: (source) => {
        this.taken += 1;
        this.#crashes.count(source, lane, () => this.#came(source, lane));
      },
      onCut: (source) => {
        this.#crashes.noteReturn(source);
        this.apply({ kind: 'cut', source: source.id });
      },
    };
  }

  get perBundle(): number {
    return this.#publishing.perBundle;
  }

  get mayBegin(): boolean {
    return mayBegin({ state: this.#state, rules: this.#rules });
  }

  apply(input: Input): void {
    for (const effect of step(this.#state, input, this.#rules)) this.#do(effect);
    this.#conditions.look();
  }

  /** Number of messages taken and not yet acknowledged, given back or forgotten. */
  get inHand(): number {
    return this.#inHand.size + this.#crashes.counting;
  }

  /** At the end: gives back the messages whose handlers are at work and ignores their results. Returns how many. */
  cut(): number {
    const atWork = [...this.#state.members.values()].filter(({ isRunning }) => isRunning);
    for (const { id } of atWork) this.apply({ kind: 'dependency away', member: id });
    this.#isCut = true;
    return atWork.length;
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

  /** True if it holds a message taken within the last `withinMs`, except from the quarantine. */
  hasNew(withinMs: number): boolean {
    const since = this.#tools.clock.now() - withinMs;
    return [...this.#inHand.values()].some(({ lane, at }) => lane !== 'quarantine' && at > since);
  }

  /** Notes that a quarantined message that is still at work is no longer alone. */
  clearAlone(): void {
    this.#crashes.clearAlone();
  }

  untilEmpty(): Promise<void> {
    return this.#conditions.until(() => this.inHand === 0);
  }

  #came(source: Source, lane: Lane): void {
    const messages = this.#tools.spans?.begin(source.messages) ?? source.messages;
    this.#inHand.set(source.id, { source, messages, lane, at: this.#tools.clock.now() });
    this.apply({ kind: 'came', source: source.id, lane, messages });
    if (messages.length > 1 && this.#tools.lease !== undefined) this.#slow.watch();
  }

  #giveBack(id: number): void {
    const source = this.#release(id);
    if (source === undefined) return;
    this.#crashes.noteReturn(source);
    source.giveBack();
  }

  #do(effect: Effect<M>): void {
    if ('afterMs' in effect && effect.afterMs > 0) this.#doLater(effect, effect.afterMs);
    else this.#doNow(effect);
  }

  #doNow(effect: Effect<M>): void {
    switch (effect.kind) {
      case 'recall':
        return this.#once.recall(effect);
      case 'remember':
        return this.#once.remember(effect);
      case 'park':
        return void this.#put(effect.sending, this.#tools.park, effect.parked);
      case 'keep':
        return void this.#put(effect.sending, this.#tools.keep, effect.publication);
      case 'lease':
        return void this.#lease(effect);
      case 'run':
        return this.#run(effect);
      case 'publish':
        return this.#publishing.publish(effect);
      case 'acknowledge':
        return this.#release(effect.source)?.acknowledge();
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
      // It may have been kept in the meantime.
      if ('sending' in effect && !this.#state.sendings.has(effect.sending)) return;
      this.#doNow(effect);
    });
  }

  #waitForBroker(): void {
    // Waits for `mayBegin`, not for a writable broker: a step that drains would wait for the end of the alarm it drains.
    this.#tools.onUnavailable(new Unavailable('rabbitmq', () => this.#conditions.until(() => this.mayBegin)));
  }

  #run({ member, message }: Do<'run', M>): void {
    const failed = (error: unknown) => this.#failed(member, error);
    try {
      // Not awaited: that would cost one more promise for each message.
      this.#handle(message).then((caused) => this.#worked({ kind: 'returned', member, caused }), failed);
    } catch (error) {
      failed(error);
    }
  }

  #failed(member: number, error: unknown): void {
    if (!(error instanceof Unavailable)) return this.#worked({ kind: 'threw', member, error });
    this.#tools.onUnavailable(error);
    this.#worked({ kind: 'dependency away', member });
  }

  #worked(input: Input & { member: number }): void {
    if (this.#isCut) return;
    if (input.kind === 'returned') this.#tools.spans?.returned(this.#state.members.get(input.member)?.message);
    this.apply(input);
  }

  #settled(sending: number, error: unknown): void {
    if (error === undefined) this.apply({ kind: 'confirmed', sending });
    else if (error instanceof Stalled) this.apply({ kind: 'stalled', sending });
    else if (error instanceof Unconfirmed || error instanceof Unavailable) this.apply({ kind: 'unconfirmed', sending });
    else this.apply({ kind: 'refused', sending, error });
  }

  #flushLater(): void {
    this.#flushTimer?.[Symbol.dispose]();
    this.#flushTimer = this.#tools.clock.after(FLUSH_MS, () => this.apply({ kind: 'flush due' }));
  }

  async #put<T>(sending: number, put: ((what: T) => Promise<void>) | undefined, what: T): Promise<void> {
    let error: unknown;
    try {
      if (put === undefined) throw new Error('this step has nowhere to park');
      await put(what);
    } catch (thrown) {
      error = thrown;
    }
    this.#settled(sending, error);
  }

  async #lease({ member, message }: Do<'lease'>): Promise<void> {
    const { source: bundleId = 0 } = this.#state.members.get(member) ?? {};
    const at = this.#inHand.get(bundleId)?.at ?? this.#tools.clock.now();
    const source = await this.#tools.lease?.(message, this.taking('queue').onCut);
    if (source !== undefined) {
      const bundle = this.#inHand.get(bundleId);
      if (bundle !== undefined) bundle.messages = bundle.messages.filter((each) => each !== message);
      this.#inHand.set(source.id, { source, messages: [message], lane: 'queue', at });
    }
    this.apply({ kind: 'leased', member, source: source?.id });
  }

  #report(report: Report<M>): void {
    if (report.kind === 'put aside' && report.isQuarantined) this.#tools.onQuarantined();
    this.#tools.spans?.record(report);
    const takenAt = report.kind === 'handled' ? this.#inHand.get(report.member.source)?.at : undefined;
    this.#tools.report.record(report, takenAt === undefined ? 0 : this.#tools.clock.now() - takenAt);
  }

  #release(id: number): Source | undefined {
    const taken = this.#inHand.get(id);
    this.#inHand.delete(id);
    if (taken !== undefined) {
      this.#crashes.done(taken.source);
      this.#tools.spans?.release(taken.messages);
    }
    this.#conditions.look();
    return taken?.source;
  }
}
