/**
 * Runs a step on the line: takes messages from its queues and lanes, and runs the effects that the hand-over returns
 * (`EffectRunner`). Two parts decide when it takes none: the `Gate` shuts while a dependency is away; the `SuspectsLane` takes
 * messages that may kill the process, one at a time.
 */
import type { Tracer } from '@opentelemetry/api';
import { backoffMs } from '@waybell/runtime/backoff';
import { type Clock, systemClock, type Timer, withTimeout } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { type Shutdown, untilGiven } from '@waybell/runtime/shutdown';
import type { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker, ConsumeCallbacks, Consumer } from './broker.ts';
import { EffectRunner, type HandOverTools } from './hand-over/effect-runner.ts';
import type { Gathering } from './hand-over/gatherers.ts';
import type { StepRules } from './hand-over/state.ts';
import type { Handler } from './messages.ts';
import type { InHandLimit } from './prefetch-budget.ts';
import { StepReport, StepSpans, type TracedStep } from './step-report.ts';
import { isLane, suspectsQueue } from './topology.ts';

export type Step<M> = Omit<StepRules<M>, 'now' | 'hasRooms' | 'hasLane'> &
  TracedStep<M> & {
    queues: readonly string[];
    /** Limit of messages in hand, and so handled, at once over all queues. */
    inHandLimit: InHandLimit;
    handle: Handler<M>;
    gathering?: Gathering<M>;
  };

export type StepTools<M = unknown> = HandOverTools<M> & {
  /** Takes rows of a table, such as deliveries that waited, which are handled like messages from the queues. */
  takeRows?: (consuming: ConsumeCallbacks) => Consumer;
  /** `begun`: take no more. `due`: give back the rest. Absent: disposal begins the end, and nothing limits it. */
  shutdown?: Pick<Shutdown, 'begun' | 'due' | 'watch'>;
  /** Cancels handlers' work under way, such as requests: its messages were given back. */
  cut?: () => unknown;
  log: Log;
  metrics: Metrics;
  /** Records spans; absent if tracing is off. */
  tracer?: Tracer;
  holdMs?: number;
  /** How long after the start the first suspect is taken. */
  suspectsAfterMs?: number;
  clock?: Clock;
};

export type RunningStep = AsyncDisposable & {
  /**
   * Lists what the step waits for; empty while it works. A step with `drainsWhileBlocked` works while the broker blocks
   * publishers.
   */
  waitingFor(): string[];
  /** Number of messages taken since the start. */
  taken(): number;
  /** Mean number of messages in recently published batches. */
  perBatch(): number;
  /** Takes no more until every reason is resumed; finishes messages in hand. */
  pause(reason: string): Promise<void>;
  resume(reason: string): void;
};

const HOLD_MS = 10_000;
/** Limits at the end: to pause the consumers; to publish finished work; to put it into a room instead. */
const PAUSE_LIMIT_MS = 800;
const GIVE_BACK_LIMIT_MS = 1_000;
const PUT_LIMIT_MS = 1_000;

/**
 * Takes and handles messages until disposed, or until the process is asked to stop: then it takes no more and finishes begun
 * work. Gives back messages that do not end in time.
 */
export function runStep<M>(running: Step<M>, tools: StepTools<M>): RunningStep {
  return new StepRunner(running, tools);
}

class StepRunner<M> implements RunningStep {
  readonly #clock: Clock;
  readonly #gate: Gate;
  readonly #runner: EffectRunner<M>;
  readonly #suspects: SuspectsLane | undefined;
  readonly #consumers: Consumer[];
  readonly #name: string;
  readonly #tools: StepTools<M>;
  #stopping: Promise<void> | undefined;

  constructor(running: Step<M>, tools: StepTools<M>) {
    const { broker, log, metrics, holdMs = HOLD_MS, suspectsAfterMs, clock = systemClock } = tools;
    const { name, queues, inHandLimit } = running;
    this.#clock = clock;
    this.#name = name;
    this.#tools = tools;
    this.#gate = new Gate({
      clock,
      log,
      holdMs,
      beforeGivingBack: () => this.pause('outage'),
      onOutlasted: () => this.#runner.apply({ kind: 'outlasted' }),
      onBack: () => {
        this.resume('outage');
        this.#runner.apply({ kind: 'back' });
      },
    });
    const report = new StepReport(running, { log, metrics, inHand: () => main.inHand() + (rows?.inHand() ?? 0) });
    const hasLane = queues.length > 0;
    this.#runner = new EffectRunner(
      { ...running, hasLane },
      {
        ...tools,
        clock,
        report,
        spans: tools.tracer && new StepSpans(running, tools.tracer),
        onUnavailable: (dependency) => this.#gate.shut(dependency),
        onRedelivered: (isInHand) => (isInHand ? this.#suspects?.pause() : this.#suspects?.resume()),
      },
    );
    const main = broker.consume(queues, inHandLimit, this.#runner.taking('queue'));
    const rows = tools.takeRows?.(this.#runner.taking('queue'));
    const suspects = { step: name, clock, ...(suspectsAfterMs !== undefined && { afterStartMs: suspectsAfterMs }) };
    if (hasLane || isLane(name))
      this.#suspects = new SuspectsLane(broker, { ...suspects, ...this.#runner.taking('suspects') });
    this.#consumers = [main, this.#suspects?.consumer, rows].filter((each) => each !== undefined);
    // Not at disposal: other parts of the process, disposed of earlier, may take long.
    tools.shutdown?.begun.addEventListener('abort', () => void this.#stopTaking());
    tools.shutdown?.watch(() => this.#runner.inHand);
  }

  waitingFor(): string[] {
    return [...new Set([...(this.#runner.mayBegin ? [] : ['rabbitmq']), ...this.#gate.waitingFor()])];
  }

  taken(): number {
    return this.#runner.taken;
  }

  perBatch(): number {
    return this.#runner.perBatch;
  }

  async pause(reason: string): Promise<void> {
    await Promise.all(this.#consumers.map((consumer) => consumer.pause(reason)));
  }

  resume(reason: string): void {
    for (const consumer of this.#consumers) consumer.resume(reason);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#stopTaking();
    const { shutdown } = this.#tools;
    await Promise.race([this.#runner.untilEmpty(), ...(shutdown === undefined ? [] : [untilGiven(shutdown.due)])]);
    await this.#giveBackRest();
  }

  #stopTaking(): Promise<void> {
    return (this.#stopping ??= this.#endTaking());
  }

  async #endTaking(): Promise<void> {
    // First stops taking: messages given back would be redelivered. A broker that hangs must not delay this.
    await withTimeout({ clock: this.#clock, limitMs: PAUSE_LIMIT_MS }, this.pause('closing'));
    this.#gate.close();
    this.#suspects?.close();
    this.#runner.apply({ kind: 'closing' });
    this.#tools.log.info({ step: this.#name, held: this.#runner.inHand }, 'taking.ended');
  }

  /** Gives back the messages that did not end in time. Their effects are published or wait in a room; otherwise they are repeated. */
  async #giveBackRest(): Promise<void> {
    if (this.#runner.inHand === 0) return;
    let messages = this.#runner.cut();
    this.#tools.cut?.();
    await withTimeout({ clock: this.#clock, limitMs: GIVE_BACK_LIMIT_MS }, this.#runner.untilEmpty());
    // A broker that hangs counts as writable until its heartbeats are missed.
    this.#runner.apply({ kind: 'broker', is: 'away' });
    await withTimeout({ clock: this.#clock, limitMs: PUT_LIMIT_MS }, this.#runner.untilEmpty());
    messages += this.#runner.giveBackAll();
    this.#tools.log.warn({ step: this.#name, messages }, 'shutdown.given-back');
  }
}

export type GateOptions = {
  clock: Clock;
  log: Log;
  /** Messages are deferred during a short outage, and given back after this time. */
  holdMs: number;
  /** Awaited before messages are given back, to stop taking: they would otherwise be redelivered at once. */
  beforeGivingBack: () => Promise<void>;
  onOutlasted: () => void;
  onBack: () => void;
};

type Outage = { dependency: string; giveBack: Timer };

const BACKOFF = { firstMs: 50, longestMs: 5_000 };
/** An outage this soon after the last one continues with its delay: the probe succeeds, but the work fails. */
const SAME_OUTAGE_MS = 10_000;

/** Shuts while a dependency is away, and probes it until it is back. Reports when the outage outlasts `holdMs`. */
export class Gate {
  readonly #options: GateOptions;
  readonly #closing = new AbortController();
  #outage: Outage | undefined;
  #probes = 0;
  #reopenedAt = -Infinity;

  constructor(options: GateOptions) {
    this.#options = options;
  }

  waitingFor(): string[] {
    return this.#outage === undefined ? [] : [this.#outage.dependency];
  }

  shut({ dependency, probe, cause }: Unavailable): void {
    if (this.#outage !== undefined || this.#isClosed()) return;
    const { clock, log, holdMs } = this.#options;
    log.warn({ dependency, reason: cause instanceof Error ? cause.message : undefined }, 'dependency.away');
    const outage = { dependency, giveBack: clock.after(holdMs, () => void this.#outlast(outage)) };
    this.#outage = outage;
    void this.#waitOut(outage, probe);
  }

  /** Stops probing for good. */
  close(): void {
    this.#closing.abort();
    this.#outage?.giveBack[Symbol.dispose]();
  }

  async #outlast(outage: Outage): Promise<void> {
    await this.#options.beforeGivingBack();
    if (outage === this.#outage) this.#options.onOutlasted();
  }

  async #waitOut({ dependency, giveBack }: Outage, probe: () => Promise<unknown>): Promise<void> {
    const { clock, log, onBack } = this.#options;
    const beganAt = clock.now();
    if (beganAt - this.#reopenedAt > SAME_OUTAGE_MS) this.#probes = 0;
    while (!(await this.#isBack(probe))) if (this.#isClosed()) return;
    this.#outage = undefined;
    giveBack[Symbol.dispose]();
    this.#reopenedAt = clock.now();
    log.info({ dependency, awayMs: Math.round(this.#reopenedAt - beganAt) }, 'dependency.back');
    onBack();
  }

  async #isBack(probe: () => Promise<unknown>): Promise<boolean> {
    try {
      await this.#options.clock.sleep(backoffMs(BACKOFF, this.#probes + 1), this.#closing.signal);
      if (this.#isClosed()) return false;
      this.#probes += 1;
      await probe();
      return !this.#isClosed();
    } catch {
      return false;
    }
  }

  #isClosed(): boolean {
    return this.#closing.signal.aborted;
  }
}

type SuspectsLaneOptions = ConsumeCallbacks & { step: string; clock: Clock; afterStartMs?: number };

/** A message that crashes its process is redelivered to the next process, and crashes it within this time. */
const AFTER_START_MS = 5_000;
/** After this pause, so that no consumer is opened and cancelled for each of many redelivered messages. */
const REST_MS = 200;
const MAY_BE_BLAMED = 'what came again may kill';

const ONE_AT_A_TIME = { messages: 1, bytes: Number.MAX_SAFE_INTEGER };

/**
 * Takes suspects one at a time, and only while nothing else is likely to crash the process, so that a crash is counted against
 * the right message: none for a while after the start of the process, and none while a redelivered message of another lane is in
 * hand.
 */
class SuspectsLane {
  readonly consumer: Consumer;
  readonly #clock: Clock;
  readonly #opensAt: number;
  #opening: Timer | undefined;
  #isClosed = false;

  constructor(broker: Pick<Broker, 'consume'>, options: SuspectsLaneOptions) {
    const { step, clock, afterStartMs = AFTER_START_MS, ...consuming } = options;
    this.#clock = clock;
    this.#opensAt = clock.now() + afterStartMs;
    this.consumer = broker.consume([suspectsQueue(step)], ONE_AT_A_TIME, consuming);
    this.pause();
    this.resume();
  }

  /** A redelivered message is in hand. */
  pause(): void {
    this.#opening?.[Symbol.dispose]();
    void this.consumer.pause(MAY_BE_BLAMED);
  }

  /** No redelivered message is in hand any more. */
  resume(): void {
    const afterMs = Math.max(REST_MS, this.#opensAt - this.#clock.now());
    if (!this.#isClosed) this.#opening = this.#clock.after(afterMs, () => this.consumer.resume(MAY_BE_BLAMED));
  }

  /** Takes no more suspects. */
  close(): void {
    this.#isClosed = true;
    this.pause();
  }
}
