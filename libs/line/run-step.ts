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
import { publishSuspect } from './aside.ts';
import type { Broker } from './broker/connect-broker.ts';
import type { Held } from './broker/held.ts';
import { within } from './broker/within.ts';
import { Gate } from './gate.ts';
import { Lane } from './lane.ts';
import { isRejection, reject, type Handler, type Outgoing, type Parse, type Rejection } from './messages.ts';
import type { Once, OncePolicy } from './once.ts';
import { publishCausedTo, type PublishCaused } from './publish-caused.ts';
import { NoLongerHeld, publishUntilConfirmed } from './publish-until-confirmed.ts';
import { Repeats } from './repeats.ts';
import { StepReport } from './step-report.ts';
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

export type RunningStep = AsyncDisposable & { waitingFor(): string[] };

export type StepTools = { broker: Broker; once?: Once; log: Log; metrics: Metrics; holdMs?: number };

/** Deliveries of one message after which it is suspected of killing its process; kills, on the suspects lane. */
const SUSPECT_DELIVERIES = 3;
const SUSPECT_FAILURES = 5;
const SUSPECT_PAUSE_MS = 20;
const STUCK_PAUSE_MS = 1_000;
const HOLD_MS = 10_000;
const PAUSE_LIMIT_MS = 2_000;
const KILLED = reject('process_killed', 'the process that handled it died, each time');

/** Takes messages and handles them until it is disposed of: then it takes no more, and ends what it has begun. */
export function runStep<M>(step: Step<M>, tools: StepTools): RunningStep {
  return new StepRunner(step, tools);
}

class StepRunner<M> implements RunningStep {
  readonly #step: Step<M>;
  readonly #broker: Broker;
  readonly #report: StepReport;
  readonly #publish: PublishCaused;
  readonly #repeats: Repeats<M>;
  readonly #gate: Gate;
  readonly #lanes: Lane[];

  constructor(step: Step<M>, { broker, once, log, metrics, holdMs = HOLD_MS }: StepTools) {
    this.#step = step;
    this.#broker = broker;
    this.#publish = publishCausedTo(broker);
    this.#repeats = new Repeats(step.once, once);
    this.#gate = new Gate({ log, holdMs, onGiveBack: () => this.#pause(), onReopen: () => this.#resume() });
    const main = new Lane(broker, { ...step, settle: (held) => this.#settle(held, () => this.#handleNormal(held)) });
    const suspects = new Lane(broker, {
      queues: [suspectsQueue(step.service)],
      prefetch: 1,
      slots: 1,
      settle: (held) => this.#settle(held, () => this.#handleSuspect(held)),
    });
    this.#lanes = [main, suspects];
    this.#report = new StepReport({ service: step.service, log, metrics, slotsUsed: () => main.used });
  }

  waitingFor(): string[] {
    return this.#gate.waitingFor();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // First no more may come: what is given back would come again. A broker that hangs must not hold this up.
    await within(PAUSE_LIMIT_MS, this.#pause());
    this.#gate.close();
    await Promise.all(this.#lanes.map((lane) => lane.untilEmpty()));
  }

  async #pause(): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.pause()));
  }

  #resume(): void {
    for (const lane of this.#lanes) lane.resume();
  }

  async #settle(held: Held, handle: () => Promise<void>): Promise<void> {
    try {
      if (held.isHeld()) await handle();
    } catch (error) {
      if (error instanceof NoLongerHeld) return;
      // It goes back, slowly, until somebody mends the topology.
      this.#report.stuck(held.message, error);
      await sleep(STUCK_PAUSE_MS);
      held.giveBack();
    }
  }

  async #handleNormal(held: Held): Promise<void> {
    if (held.message.deliveryCount >= SUSPECT_DELIVERIES) return this.#putAside(held, 0);
    const failure = await this.#tryToHandle(held);
    if (failure !== undefined) await this.#putAside(held, 0);
  }

  async #handleSuspect(held: Held): Promise<void> {
    const { deliveryCount, failures } = held.message;
    if (deliveryCount >= SUSPECT_DELIVERIES) return this.#reject(held, KILLED);
    const failure = await this.#tryToHandle(held);
    if (failure === undefined) return;
    if (failures + 1 >= SUSPECT_FAILURES) return this.#reject(held, reject('handler_failed', failure));
    await sleep(SUSPECT_PAUSE_MS);
    await this.#putAside(held, failures + 1);
  }

  /** Undefined once the message is settled; else what went wrong, where that is the message's or the handler's fault. */
  async #tryToHandle(held: Held): Promise<string | undefined> {
    try {
      await this.#handle(held);
      return undefined;
    } catch (error) {
      if (!held.isHeld()) throw new NoLongerHeld();
      this.#report.failed(held.message, error);
      return String(error);
    }
  }

  /** The straight way. */
  async #handle(held: Held): Promise<void> {
    const message = this.#step.parse(held.message);
    if (isRejection(message)) return this.#reject(held, message);
    const facts = this.#step.describe(message);
    await this.#repeats.inTurn(message, async () => {
      const beganAt = performance.now();
      const repeated = await this.#repeats.recognise(message);
      const caused = repeated ?? (await this.#cause(held, message));
      if (caused === undefined) return this.#giveBack(held);
      await this.#publish(held, caused);
      if (repeated === undefined) await this.#repeats.remember(message, caused);
      held.ack();
      const durationMs = performance.now() - beganAt;
      this.#report.handled(held.message, { facts, caused, isRepeat: repeated !== undefined, durationMs });
    });
  }

  /** Runs the handler, again after each outage, until it returns. Undefined: the outage is too long to wait for. */
  async #cause(held: Held, message: M): Promise<Outgoing[] | undefined> {
    for (;;) {
      // What could not be published must not be done either.
      if (!this.#broker.isWritable()) this.#gate.shut(new Unavailable('rabbitmq', () => this.#broker.untilWritable()));
      if (!(await this.#gate.pass())) return undefined;
      if (!held.isHeld()) throw new NoLongerHeld();
      try {
        return await this.#step.handle(message);
      } catch (error) {
        if (!(error instanceof Unavailable)) throw error;
        this.#gate.shut(error);
      }
    }
  }

  async #reject(held: Held, rejection: Rejection): Promise<void> {
    await this.#publish(held, [rejection]);
    held.ack();
    this.#report.rejected(held.message, rejection);
  }

  async #giveBack(held: Held): Promise<void> {
    const { queue, failures } = held.message;
    this.#report.givenBack();
    // A suspect given back would soon look like one that kills its process: it goes to the end of its lane instead.
    const isSuspect = queue === suspectsQueue(this.#step.service);
    if (isSuspect && this.#broker.isWritable()) await this.#putAside(held, failures);
    else held.giveBack();
  }

  async #putAside(held: Held, failures: number): Promise<void> {
    const suspect = publishSuspect(held.message, this.#step.service, failures);
    await publishUntilConfirmed(this.#broker, suspect, () => held.isHeld());
    held.ack();
    this.#report.suspected(held.message);
  }
}
