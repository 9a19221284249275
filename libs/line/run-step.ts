/**
 * The wrapper around every handler of the line, and the only place that publishes and acknowledges:
 *
 *   take ─▶ parse ─▶ handle ─▶ publish what it returned, confirmed ─▶ remember ─▶ acknowledge
 *
 * So a message is gone from a queue only when everything it caused is safely in another. What can go wrong has one
 * answer each: nonsense goes to the rejected queue; a dependency that is away is waited for; anything else thrown is
 * a bug or a poisonous message, which goes to the suspects lane and lets its neighbours pass. What was in hand there when
 * its process died is handled once more with nothing beside it, so that none is blamed for another.
 */
import { systemClock, type Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import { Unavailable } from '@waybell/runtime/unavailable';
import { within } from '@waybell/runtime/within';
import { publishQuarantined, publishSuspect } from './aside.ts';
import type { Broker } from './broker/connect-broker.ts';
import type { Held } from './broker/held.ts';
import { Gate } from './gate.ts';
import type { Hold } from './hold.ts';
import { judgeFailure } from './judge-failure.ts';
import { Lane } from './lane.ts';
import {
  isRejection,
  reject,
  type Handler,
  type Outgoing,
  type Parse,
  type Publication,
  type Rejection,
} from './messages.ts';
import type { Once, OncePolicy } from './once.ts';
import { OutcomeBatcher } from './outcome-batcher.ts';
import { publishCausedTo, type PublishCaused, type RecordRejection } from './publish-caused.ts';
import { NoLongerHeld, publishUntilConfirmed } from './publish-until-confirmed.ts';
import { Quarantine } from './quarantine.ts';
import { Repeats } from './repeats.ts';
import { StepReport } from './step-report.ts';
import { failuresAfter, verdictOf, type Door } from './suspicion.ts';
import { quarantineQueue, suspectsQueue } from './topology.ts';

export type Step<M> = {
  /** Names the suspects lane, log lines and metrics. */
  service: string;
  queues: readonly string[];
  /** What is held at once, and so handled at once, over all queues. */
  hold: Hold;
  parse: Parse<M>;
  handle: Handler<M>;
  once?: OncePolicy<M>;
  /**
   * True where messages can end in a record that closes their delivery: such a step goes on while the broker blocks
   * publishers, and so drains the backlog that may have caused it. Others wait.
   */
  drainsWhileBlocked?: boolean;
  /** What the delivery log is to know of a message that is rejected; undefined where nobody could find it by that. */
  recordRejection?: RecordRejection;
  /** What identifies the message in the log: ids, never a body. */
  describe: (message: M) => Record<string, unknown>;
};

export type RunningStep = AsyncDisposable & {
  /** Empty while it works. A step that drains works while the broker blocks publishers. */
  waitingFor(): string[];
  /** Messages taken since it began. */
  taken(): number;
  /** Takes no more until every reason for that is gone; what is held is handled to its end. */
  pause(reason: string): Promise<void>;
  resume(reason: string): void;
};

export type StepTools = { broker: Broker; once?: Once; log: Log; metrics: Metrics; holdMs?: number; clock?: Clock };

const ONE_AT_A_TIME: Hold = { messages: 1, bytes: Number.MAX_SAFE_INTEGER };
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
  readonly #clock: Clock;
  readonly #report: StepReport;
  readonly #outcomes: OutcomeBatcher;
  readonly #publish: PublishCaused;
  readonly #repeats: Repeats<M>;
  readonly #gate: Gate;
  readonly #quarantine: Quarantine;
  readonly #lanes: Lane[];
  #taken = 0;

  constructor(step: Step<M>, { broker, once, log, metrics, holdMs = HOLD_MS, clock = systemClock }: StepTools) {
    this.#step = step;
    this.#broker = broker;
    this.#clock = clock;
    this.#outcomes = new OutcomeBatcher({ broker, clock, log });
    this.#publish = publishCausedTo({ broker, clock }, this.#outcomes, step.recordRejection);
    this.#repeats = new Repeats(step.once, once);
    this.#gate = new Gate({
      clock,
      log,
      holdMs,
      onGiveBack: () => this.pause('outage'),
      onReopen: () => this.resume('outage'),
    });
    const { service, queues, hold } = step;
    const settle = (door: Door) => (held: Held) => this.#settle(held, door);
    const main = new Lane(broker, { queues, hold, settle: settle('queue') });
    const suspects = new Lane(broker, {
      queues: [suspectsQueue(service)],
      hold: ONE_AT_A_TIME,
      settle: settle('suspects'),
    });
    this.#quarantine = new Quarantine(broker, { queue: quarantineQueue(service), clock, settle: settle('quarantine') });
    this.#lanes = [main, suspects, this.#quarantine.lane];
    this.#report = new StepReport({ service, log, metrics, held: () => main.held });
  }

  waitingFor(): string[] {
    return [...(this.#mayBegin() ? [] : ['rabbitmq']), ...this.#gate.waitingFor()];
  }

  async [Symbol.asyncDispose](): Promise<void> {
    // First no more may come: what is given back would come again. A broker that hangs must not hold this up.
    await within({ clock: this.#clock, limitMs: PAUSE_LIMIT_MS }, this.pause('closing'));
    this.#gate.close();
    await Promise.all([...this.#lanes.map((lane) => lane.untilEmpty()), this.#quarantine.close()]);
    await this.#outcomes.close();
  }

  taken(): number {
    return this.#taken;
  }

  async pause(reason: string): Promise<void> {
    await Promise.all(this.#lanes.map((lane) => lane.pause(reason)));
  }

  resume(reason: string): void {
    for (const lane of this.#lanes) lane.resume(reason);
  }

  async #settle(held: Held, door: Door): Promise<void> {
    this.#taken += 1;
    try {
      if (held.isHeld()) await this.#take(held, door);
    } catch (error) {
      if (error instanceof NoLongerHeld) return;
      // It goes back, slowly, until an operator fixes the topology.
      this.#report.stuck(held.message, error);
      await this.#clock.sleep(STUCK_PAUSE_MS);
      held.giveBack();
    }
  }

  async #take(held: Held, door: Door): Promise<void> {
    switch (verdictOf(door, held.message.deliveryCount)) {
      case 'handle':
        return this.#tryToHandle(held, door);
      case 'put aside':
        return this.#putAside(held, 0);
      case 'quarantine':
        await this.#moveAside(held, publishQuarantined(held.message, this.#step.service));
        return this.#quarantine.look();
      case 'reject':
        return this.#reject(held, KILLED);
    }
  }

  async #tryToHandle(held: Held, door: Door): Promise<void> {
    try {
      await this.#handle(held, door);
    } catch (error) {
      if (!held.isHeld()) throw new NoLongerHeld();
      this.#report.failed(held.message, error);
      const failures = failuresAfter(door, held.message.failures);
      if (failures === undefined) return this.#reject(held, judgeFailure(error));
      if (door !== 'queue') await this.#clock.sleep(SUSPECT_PAUSE_MS);
      await this.#putAside(held, failures);
    }
  }

  /** The straight way. */
  async #handle(held: Held, door: Door): Promise<void> {
    const message = this.#step.parse(held.message);
    if (isRejection(message)) return this.#reject(held, message);
    await this.#repeats.inTurn(message, async () => {
      const beganAt = this.#clock.now();
      const repeated = await this.#repeats.recognise(message);
      const caused = repeated ?? (await this.#cause(held, message));
      if (caused === undefined) return this.#giveBack(held, door);
      await this.#publish(held, caused);
      if (repeated === undefined) await this.#repeats.remember(message, caused);
      held.ack();
      const durationMs = this.#clock.now() - beganAt;
      const describe = () => this.#step.describe(message);
      this.#report.handled(held.message, { describe, caused, isRepeat: repeated !== undefined, durationMs });
    });
  }

  /** Runs the handler, again after each outage, until it returns. Undefined: the outage is too long to wait for. */
  async #cause(held: Held, message: M): Promise<Outgoing[] | undefined> {
    for (;;) {
      // What could not be published must not be done either.
      if (!this.#mayBegin()) this.#gate.shut(new Unavailable('rabbitmq', () => this.#broker.untilWritable()));
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

  #mayBegin(): boolean {
    if (this.#broker.isWritable()) return true;
    return this.#step.drainsWhileBlocked === true && this.#broker.isBlocked() && this.#outcomes.hasRoom;
  }

  async #reject(held: Held, rejection: Rejection): Promise<void> {
    await this.#publish(held, [rejection]);
    held.ack();
    this.#report.rejected(held.message, rejection);
  }

  async #giveBack(held: Held, door: Door): Promise<void> {
    this.#report.givenBack();
    // A suspect given back would soon look like one that kills its process: it goes to the end of the lane instead.
    if (door !== 'queue' && this.#broker.isWritable()) await this.#putAside(held, held.message.failures);
    else held.giveBack();
  }

  async #putAside(held: Held, failures: number): Promise<void> {
    await this.#moveAside(held, publishSuspect(held.message, this.#step.service, failures));
  }

  async #moveAside(held: Held, publication: Publication): Promise<void> {
    await publishUntilConfirmed({ broker: this.#broker, clock: this.#clock }, publication, () => held.isHeld());
    held.ack();
    this.#report.suspected(held.message);
  }
}
