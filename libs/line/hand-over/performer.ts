import type { Timer } from '@waybell/runtime/clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Consuming } from '../broker/queue-consumer.ts';
import { Stalled, Unconfirmed } from '../broker/publish-errors.ts';
import type { HandlerInParts, Source } from '../messages.ts';
import { mayBegin, step } from './hand-over.ts';
import { AskingOnce } from './asking-once.ts';
import { Blame } from './blame.ts';
import { Conditions } from './conditions.ts';
import type { PerformerTools } from './performer-tools.ts';
import { Publishing } from './publishing.ts';
import { SlowBundles, type Taken } from './slow-bundles.ts';
import { emptyState, type Effect, type Input, type News, type Rules } from './state.ts';
import type { Door } from './suspicion.ts';

/** How long a record waits for others that leave with it. */
const FLUSH_MS = 20;

/** `bundleMembers`: in a bundle that it publishes, at most. */
type Performed<M> = Omit<Rules<M>, 'now' | 'keeps'> & { handle: HandlerInParts<M>; bundleMembers?: number };
type Do<K extends Effect<never>['kind'], M = never> = Effect<M> & { kind: K };

/**
 * Does what the hand-over asks for, and tells it what came of that. What one turn of the event loop asks for goes
 * together: one question and one command to Redis, one acknowledgement a channel.
 */
export class Performer<M> {
  readonly #handle: HandlerInParts<M>;
  readonly #rules: Rules<M>;
  readonly #tools: PerformerTools<M>;
  readonly #state = emptyState<M>();
  readonly #inHand = new Map<number, Taken>();
  readonly #blame: Blame;
  readonly #publishing: Publishing;
  readonly #askingOnce: AskingOnce;
  readonly #slow: SlowBundles;
  readonly #conditions = new Conditions();
  #isCut = false;
  #flushTimer: Timer | undefined;
  taken = 0;

  constructor({ handle, bundleMembers, ...rules }: Performed<M>, tools: PerformerTools<M>) {
    this.#handle = handle;
    this.#rules = { ...rules, keeps: tools.keep !== undefined, now: tools.now ?? Date.now };
    this.#tools = tools;
    const onSettled = (sending: number, error: unknown) => this.#settled(sending, error);
    const hear = (input: Input) => this.hear(input);
    this.#askingOnce = new AskingOnce({ once: tools.once, ttlMs: rules.once?.ttlMs ?? 0, hear });
    this.#blame = new Blame(tools.deaths);
    const onSlow = (sources: ReadonlySet<number>) => hear({ kind: 'slow', sources });
    this.#slow = new SlowBundles({ inHand: this.#inHand, clock: tools.clock, onSlow });
    this.#publishing = new Publishing({ ...tools, bundleMembers, onSettled });
    this.#state.broker = tools.broker.state();
    tools.broker.onState((is) => this.hear({ kind: 'broker', is }));
  }

  /** For what is taken at this door. */
  taking(door: Door): Consuming {
    return {
      onTaken: (source) => {
        this.taken += 1;
        this.#blame.judge(source, door, () => this.#came(source, door));
      },
      onCut: (source) => {
        this.#blame.survived(source);
        this.hear({ kind: 'cut', source: source.id });
      },
    };
  }

  get perBundle(): number {
    return this.#publishing.perBundle;
  }

  get mayBegin(): boolean {
    return mayBegin({ state: this.#state, rules: this.#rules });
  }

  hear(input: Input): void {
    for (const effect of step(this.#state, input, this.#rules)) this.#do(effect);
    this.#conditions.look();
  }

  /** What was taken, and is not acknowledged, given back or let go of. */
  get inHand(): number {
    return this.#inHand.size + this.#blame.judging;
  }

  /** To be asked for once it closes: what is at work is given back, and what comes of that is of no consequence. */
  cut(): number {
    const atWork = [...this.#state.members.values()].filter(({ isRunning }) => isRunning);
    for (const { id } of atWork) this.hear({ kind: 'lacked', member: id });
    this.#isCut = true;
    return atWork.length;
  }

  /** Gives back what is still in hand, whatever has become of it. */
  giveBackAll(): number {
    const left = [...this.#inHand.keys()];
    for (const source of left) {
      this.#giveBack(source);
      this.hear({ kind: 'cut', source });
    }
    return left.length;
  }

  /** Whether something came within so many milliseconds, other than from the quarantine, and is still in hand. */
  hasNew(withinMs: number): boolean {
    const since = this.#tools.clock.now() - withinMs;
    return [...this.#inHand.values()].some(({ door, at }) => door !== 'quarantine' && at > since);
  }

  /** What came from the quarantine, and is still at work, has others beside it from now on. */
  noneIsAlone(): void {
    this.#blame.noneIsAlone();
  }

  /** Resolves when nothing is in hand. */
  untilEmpty(): Promise<void> {
    return this.#conditions.until(() => this.inHand === 0);
  }

  #came(source: Source, door: Door): void {
    const messages = this.#tools.spans?.begin(source.messages) ?? source.messages;
    this.#inHand.set(source.id, { source, messages, door, at: this.#tools.clock.now() });
    this.hear({ kind: 'came', source: source.id, door, messages });
    if (messages.length > 1 && this.#tools.lease !== undefined) this.#slow.watch();
  }

  #giveBack(id: number): void {
    const source = this.#release(id);
    if (source === undefined) return;
    this.#blame.survived(source);
    source.giveBack();
  }

  #do(effect: Effect<M>): void {
    if ('afterMs' in effect && effect.afterMs > 0) this.#doLater(effect, effect.afterMs);
    else this.#doNow(effect);
  }

  #doNow(effect: Effect<M>): void {
    switch (effect.kind) {
      case 'recall':
        return this.#askingOnce.recall(effect);
      case 'remember':
        return this.#askingOnce.remember(effect);
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
      case 'let go':
        return void this.#release(effect.source);
      case 'flush later':
        return this.#flushLater();
      case 'wait for broker':
        return this.#waitForBroker();
      case 'tell':
        return this.#tell(effect.news);
    }
  }

  #doLater(effect: Effect<M>, delayMs: number): void {
    this.#tools.clock.after(delayMs, () => {
      // Kept meanwhile, perhaps.
      if ('sending' in effect && !this.#state.sendings.has(effect.sending)) return;
      this.#doNow(effect);
    });
  }

  #waitForBroker(): void {
    // Not until it can be written to: a broker that blocks would be waited for by the step that is to drain it.
    this.#tools.onUnavailable(new Unavailable('rabbitmq', () => this.#conditions.until(() => this.mayBegin)));
  }

  #run({ member, message }: Do<'run', M>): void {
    const failed = (error: unknown) => this.#failed(member, error);
    try {
      // Not awaited: that would cost a promise more for each message.
      this.#handle(message).then((caused) => this.#worked({ kind: 'returned', member, caused }), failed);
    } catch (error) {
      failed(error);
    }
  }

  #failed(member: number, error: unknown): void {
    if (!(error instanceof Unavailable)) return this.#worked({ kind: 'threw', member, error });
    this.#tools.onUnavailable(error);
    this.#worked({ kind: 'lacked', member });
  }

  #worked(input: Input & { member: number }): void {
    if (this.#isCut) return;
    if (input.kind === 'returned') this.#tools.spans?.returned(this.#state.members.get(input.member)?.message);
    this.hear(input);
  }

  #settled(sending: number, error: unknown): void {
    if (error === undefined) this.hear({ kind: 'confirmed', sending });
    else if (error instanceof Stalled) this.hear({ kind: 'stalled', sending });
    else if (error instanceof Unconfirmed || error instanceof Unavailable) this.hear({ kind: 'unconfirmed', sending });
    else this.hear({ kind: 'refused', sending, error });
  }

  #flushLater(): void {
    this.#flushTimer?.[Symbol.dispose]();
    this.#flushTimer = this.#tools.clock.after(FLUSH_MS, () => this.hear({ kind: 'flush due' }));
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
      this.#inHand.set(source.id, { source, messages: [message], door: 'queue', at });
    }
    this.hear({ kind: 'leased', member, source: source?.id });
  }

  #tell(news: News<M>): void {
    if (news.kind === 'put aside' && news.isQuarantined) this.#tools.onQuarantined();
    this.#tools.spans?.tell(news);
    const takenAt = news.kind === 'handled' ? this.#inHand.get(news.member.source)?.at : undefined;
    this.#tools.report.tell(news, takenAt === undefined ? 0 : this.#tools.clock.now() - takenAt);
  }

  #release(id: number): Source | undefined {
    const taken = this.#inHand.get(id);
    this.#inHand.delete(id);
    if (taken !== undefined) {
      this.#blame.done(taken.source);
      this.#tools.spans?.release(taken.messages);
    }
    this.#conditions.look();
    return taken?.source;
  }
}
