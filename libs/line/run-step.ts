/**
 * The wrapper around every handler of the line, and the only place that publishes and acknowledges:
 *
 *   take ─▶ parse ─▶ handle ─▶ publish what it returned, confirmed ─▶ remember ─▶ acknowledge
 *
 * So a message is gone from a queue only when everything it caused is safely in another. What can go wrong has one
 * answer each: nonsense goes to the rejected queue; a dependency that is away is waited for; anything else thrown is
 * a bug or a poisonous message, which goes to the suspects lane and lets its neighbours pass.
 */
import { setTimeout as sleep } from 'node:timers/promises';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { Unavailable } from '@waybell/runtime/unavailable';
import { publishRejected, publishSuspect } from './aside.ts';
import type { Broker } from './broker/connect-broker.ts';
import type { Consumer, Held } from './broker/consumers.ts';
import { describeOutgoing } from './describe-outgoing.ts';
import { Gate } from './gate.ts';
import { InTurn } from './in-turn.ts';
import { reject, type Handler, type Outgoing, type Parse } from './messages.ts';
import type { Once } from './once.ts';
import { OutcomeBatcher } from './outcome-batcher.ts';
import { NoLongerHeld, publishUntilConfirmed } from './publish-until-confirmed.ts';
import { Slots } from './slots.ts';
import { lineMetrics, type LineMetrics, type StepResult } from './line-metrics.ts';
import { suspectsQueue } from './topology.ts';

export type Step<M> = {
  /** Names the suspects lane, log lines and metrics. */
  service: string;
  queues: readonly string[];
  /** Messages held at most, per queue. */
  prefetch: number;
  /** Messages handled at once, over all queues. */
  slots: number;
  parse: Parse<M>;
  handle: Handler<M>;
  once?: OncePolicy<M>;
  /** What identifies the message in the log: ids, never a body. */
  describe: (message: M) => Record<string, unknown>;
};

/** How a message is recognised that was handled before, where handling it twice costs a duplicate. */
export type OncePolicy<M> = {
  keyOf: (message: M) => { key: string; fingerprint: string };
  ttlMs: number;
  /** What a message causes whose key is remembered, with the same or with another fingerprint. */
  onRepeat: (message: M, isSame: boolean) => Outgoing[];
  isWorthRemembering: (caused: Outgoing[]) => boolean;
};

export type RunningStep = AsyncDisposable & { waitingFor(): string[] };

export type StepTools = { broker: Broker; once?: Once; log: Log; metrics: Metrics; holdMs?: number };

/** Deliveries of one message after which it is suspected of killing its process; kills, on the suspects lane. */
const SUSPECT_DELIVERIES = 3;
const SUSPECT_FAILURES = 5;
const SUSPECT_PAUSE_MS = 20;
const GIVE_BACK_PAUSE_MS = 1_000;
const HOLD_MS = 10_000;

export function runStep<M>(step: Step<M>, tools: StepTools): RunningStep {
  return new StepRunner(step, tools);
}

class StepRunner<M> implements RunningStep {
  readonly #step: Step<M>;
  readonly #tools: StepTools;
  readonly #slots: Slots;
  readonly #suspectSlot = new Slots(1);
  readonly #gate: Gate;
  readonly #outcomes: OutcomeBatcher;
  readonly #inTurn = new InTurn();
  readonly #consumers: Consumer[];
  readonly #metrics: LineMetrics;
  readonly #inFlight = new Set<Promise<void>>();

  constructor(step: Step<M>, tools: StepTools) {
    this.#step = step;
    this.#tools = tools;
    this.#slots = new Slots(step.slots);
    this.#outcomes = new OutcomeBatcher(tools.broker);
    this.#metrics = lineMetrics(tools.metrics);
    this.#gate = new Gate({
      log: tools.log,
      holdMs: tools.holdMs ?? HOLD_MS,
      onGiveBack: () => this.#consumers.forEach((consumer) => consumer.pause()),
      onReopen: () => this.#consumers.forEach((consumer) => consumer.resume()),
    });
    const { broker } = tools;
    this.#consumers = [
      ...step.queues.map((queue) =>
        broker.consume(queue, step.prefetch, (held) => this.#take(held, this.#slots, () => this.#settle(held))),
      ),
      broker.consume(suspectsQueue(step.service), 1, (held) =>
        this.#take(held, this.#suspectSlot, () => this.#settleSuspect(held)),
      ),
    ];
  }

  waitingFor(): string[] {
    return this.#gate.waitingFor();
  }

  /** Takes no more, lets what is in flight end, gives the rest back. */
  async [Symbol.asyncDispose](): Promise<void> {
    this.#gate.close();
    for (const consumer of this.#consumers) consumer.pause();
    while (this.#inFlight.size > 0) await Promise.all(this.#inFlight);
  }

  #take(held: Held, slots: Slots, work: () => Promise<void>): void {
    const taken = slots.run(work).catch(async (error: unknown) => {
      if (error instanceof NoLongerHeld) return;
      // Not even the suspects lane takes it: the topology is broken. It goes back, slowly, until somebody mends that.
      this.#tools.log.error({ err: error, queue: held.message.queue }, 'message.given-back');
      await sleep(GIVE_BACK_PAUSE_MS);
      held.giveBack();
    });
    this.#inFlight.add(taken);
    void taken.finally(() => this.#inFlight.delete(taken));
  }

  async #settle(held: Held): Promise<void> {
    if (held.message.deliveryCount >= SUSPECT_DELIVERIES) return this.#putAside(held, 0);
    try {
      await this.#handle(held);
    } catch (error) {
      if (error instanceof NoLongerHeld) throw error;
      this.#complain(held, error);
      await this.#putAside(held, 0);
    }
  }

  async #settleSuspect(held: Held): Promise<void> {
    const { message } = held;
    if (message.deliveryCount >= SUSPECT_DELIVERIES) {
      return this.#finish(held, [reject('process_killed', 'the process that handled it died, each time')]);
    }
    try {
      await this.#handle(held);
    } catch (error) {
      if (error instanceof NoLongerHeld) throw error;
      this.#complain(held, error);
      const failures = message.failures + 1;
      if (failures < SUSPECT_FAILURES) return this.#putAside(held, failures);
      const detail = error instanceof Error ? `${error.name}: ${error.message}` : String(error);
      await this.#finish(held, [reject('handler_failed', detail)]);
    }
  }

  /** Rejects with what the handler threw; with `Unroutable`; with `NoLongerHeld`. */
  async #handle(held: Held): Promise<void> {
    const message = this.#step.parse(held.message);
    if (isRejection(message)) return this.#finish(held, [message]);
    const once = this.#step.once;
    if (once === undefined) return this.#handleOnce(held, message, undefined);
    await this.#inTurn.run(once.keyOf(message).key, () => this.#handleOnce(held, message, once));
  }

  async #handleOnce(held: Held, message: M, policy: OncePolicy<M> | undefined): Promise<void> {
    const startedAt = performance.now();
    const { once, log } = this.#tools;
    const mark = policy?.keyOf(message);
    const known = mark === undefined ? undefined : await once?.recall(mark.key);
    const caused =
      known === undefined || policy === undefined
        ? await this.#cause(held, message)
        : policy.onRepeat(message, known === mark?.fingerprint);
    if (caused === 'given back') return;
    await this.#publish(held, caused);
    if (mark !== undefined && known === undefined && policy?.isWorthRemembering(caused) === true) {
      await once?.remember(mark.key, mark.fingerprint, policy.ttlMs);
    }
    held.ack();
    const ms = Math.round(performance.now() - startedAt);
    this.#left(known === undefined ? 'handled' : 'repeated', ms);
    for (const outgoing of caused) if (outgoing.kind === 'outcome') this.#metrics.ended(outgoing.outcome);
    log.info(
      { queue: held.message.queue, ...this.#step.describe(message), caused: caused.map(describeOutgoing), ms },
      'message.handled',
    );
  }

  /** Runs the handler, again after each outage, until it returns. */
  async #cause(held: Held, message: M): Promise<Outgoing[] | 'given back'> {
    const { broker } = this.#tools;
    for (;;) {
      // What could not be published must not be done either.
      if (!broker.isWritable()) this.#gate.shut(new Unavailable('rabbitmq', () => broker.untilWritable()));
      if (!(await this.#gate.pass())) {
        held.giveBack();
        this.#left('given_back');
        return 'given back';
      }
      if (!held.isHeld()) throw new NoLongerHeld();
      try {
        return await this.#step.handle(message);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.#gate.shut(error);
      }
    }
  }

  async #publish(held: Held, caused: Outgoing[]): Promise<void> {
    const isHeld = () => held.isHeld();
    const { broker } = this.#tools;
    const published = await Promise.allSettled(
      caused.map((outgoing) => {
        switch (outgoing.kind) {
          case 'publish':
            return publishUntilConfirmed(broker, outgoing, isHeld);
          case 'outcome':
            return this.#outcomes.add(outgoing.outcome, isHeld);
          case 'reject':
            return publishUntilConfirmed(broker, publishRejected(held.message, outgoing, Date.now()), isHeld);
        }
      }),
    );
    for (const result of published) if (result.status === 'rejected') throw result.reason;
  }

  async #finish(held: Held, caused: Outgoing[]): Promise<void> {
    await this.#publish(held, caused);
    held.ack();
    for (const outgoing of caused) {
      if (outgoing.kind !== 'reject') continue;
      const { queue, messageId } = held.message;
      this.#left('rejected');
      this.#tools.log.warn({ queue, messageId, reason: outgoing.reason, detail: outgoing.detail }, 'message.rejected');
    }
  }

  async #putAside(held: Held, failures: number): Promise<void> {
    if (failures > 0) await sleep(SUSPECT_PAUSE_MS);
    await publishUntilConfirmed(this.#tools.broker, publishSuspect(held.message, this.#step.service, failures), () =>
      held.isHeld(),
    );
    held.ack();
    this.#left('suspected');
  }

  #left(result: StepResult, durationMs?: number): void {
    this.#metrics.left(this.#step.service, result, durationMs);
    this.#metrics.slotsUsed(this.#step.service, this.#slots.used);
  }

  #complain({ message: { queue, messageId, failures } }: Held, error: unknown): void {
    this.#tools.log.error({ err: error, queue, messageId, failures }, 'message.failed');
  }
}

function isRejection(parsed: unknown): parsed is Extract<Outgoing, { kind: 'reject' }> {
  return typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'reject';
}
