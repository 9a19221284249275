import type { Tracer } from '@opentelemetry/api';
import pino from 'pino';
import { createMetrics } from '@waybell/runtime/metrics';
import { deactivateStep } from '@waybell/deactivator/deactivate';
import type { AttemptRequest, OnAttempted } from '@waybell/deliverer/request/attempt';
import { judge } from '@waybell/deliverer/request/attempt-result';
import { requestHeaders } from '@waybell/deliverer/request/call-endpoint';
import { readTooMuch, restHeaders } from '@waybell/deliverer/request/trace';
import { makeDeliverer } from '@waybell/deliverer/deliverer';
import { NO_TOKENS } from '@waybell/deliverer/testing/no-tokens';
import type { FindSubscriptions } from '@waybell/event-router/route-event';
import { routeStep, strayStep } from '@waybell/event-router/router-steps';
import { readOutcomes } from '@waybell/line/outcome-batch';
import type { Outcome } from '@waybell/line/outcomes';
import { readRejected, type RejectedMessage } from '@waybell/line/operating/rejected-queue';
import { runStep, type StepTools } from '@waybell/line/run-step';
import { eventsExchange, logQueue, rejectedQueue, rejectionsQueue } from '@waybell/line/topology';
import { MemoryWaiting } from '@waybell/line/waiting-room/testing/memory-waiting-store';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { PublishedEvent } from '../testing/event.ts';
import { MemoryBroker } from '@waybell/line/testing/memory-broker';
import { asConsumed, goOn, MemoryLink, type Fate, type SideEffect } from '@waybell/line/testing/memory-link';
import { MemoryOnce } from '@waybell/line/testing/memory-once';
import { MemorySubscriptions } from './memory-subscriptions.ts';
import { withConstants } from '@waybell/runtime/gone-settings';
import { readConfig as readDeactivatorConfig } from '@waybell/deactivator/config';
import { readConfig as readDelivererConfig } from '@waybell/deliverer/config';
import { readConfig as readRouterConfig } from '@waybell/event-router/config';
import { lineTopology } from '@waybell/line/line-topology';
import type { WaitingStore } from '@waybell/line/waiting-room/waiting-store';

/** How a receiver answers: with a status, and a header that goes with it, or not in time. */
export type Response = { status: number | 'none'; afterMs?: number; retryAfter?: string };
export type Receiver = (request: Request) => Response;
type Request = {
  at: number;
  endedAt: number;
  url: string;
  headers: Record<string, string>;
} & AttemptRequest['delivery'];

export type LineOptions = {
  /** Settings of the services that are to differ from the specification's. */
  settings?: Record<string, string>;
  /** Whether a process dies instead of doing that; a new one is there at once. */
  diesAt?: (effect: SideEffect, service: string) => boolean;
  refuses?: Fate['refuses'];
  /** False: an error that is logged ends the run as a bug. */
  isLoggingErrors?: boolean;
  /** Whether Postgres is away when it is asked. */
  isAway?: () => boolean;
  /** Chooses which of so many queues with something in them is served next. */
  pick?: (count: number) => number;
  /** Makes spans. */
  tracer?: Tracer;
};

const metrics = createMetrics('test');
/** Queues for other consumers, where messages of the line end. */
const RESTING = new Set([logQueue, rejectedQueue, rejectionsQueue]);
const NOON = Date.UTC(2026, 10, 20, 12);
/** More than anything takes that comes to an end. */
const PATIENCE = { ms: 3 * 86_400_000, turns: 1_000_000 };

type Process = { link: MemoryLink; underWay: Set<Request> };

/**
 * Runs the real steps of the line against each other, by the product's own `runStep` and without any server: the broker
 * is an array per queue, the clock is turned, and an hour takes no time.
 */
export class MemoryLine {
  readonly subscriptions = new MemorySubscriptions();
  readonly requests: Request[] = [];
  /** Answers 200 at once unless told otherwise, by subscription. */
  readonly receivers = new Map<string, Receiver>();
  /** Services that are down: their queues fill. */
  readonly down = new Set<string>();
  readonly broker: MemoryBroker;
  readonly waiting: MemoryWaiting;
  readonly #clock = new TurnedClock(NOON);
  readonly #options: LineOptions;
  readonly #configs: Configs;
  readonly #processes = new Map<string, Process>();
  readonly #once = new MemoryOnce(() => this.now);
  readonly #errors: string[] = [];

  constructor(options: LineOptions = {}) {
    this.#options = options;
    this.#configs = configsOf(options.settings);
    this.subscriptions.offOnExhausted = this.#configs.deactivator.rules.offOnExhausted;
    this.broker = new MemoryBroker(this.#configs.topology, this.#clock);
    this.waiting = new MemoryWaiting(this.#clock.now);
    for (const service of Object.keys(this.#starters)) this.#start(service);
  }

  publish(event: PublishedEvent, headers?: Record<string, string>): void {
    this.publishBytes(`${event.interface}.${event.action}`, Buffer.from(JSON.stringify(event)), headers);
  }

  publishBytes(routingKey: string, body: Buffer, headers: Record<string, string> = {}): void {
    this.broker.publish({ kind: 'publish', exchange: eventsExchange, routingKey, body, headers });
  }

  /** Records for the delivery log. */
  get outcomes(): Outcome[] {
    return this.broker.kept(logQueue).flatMap(({ publication: { body } }) => readOutcomes(body));
  }

  /** Messages in the rejected queue. */
  get rejections(): RejectedMessage[] {
    return this.broker.kept(rejectedQueue).map((each) => readRejected(asConsumed(each)));
  }

  /** Notices for upstream. */
  get notices(): { guid: string | null }[] {
    return this.broker.kept(rejectionsQueue).map(({ publication: { body } }) => JSON.parse(body.toString()));
  }

  /** Names of the queues in which something is left that is not a record, and `a room` where something waits in one. */
  get left(): string[] {
    const filled = this.broker.filled().filter((queue) => !RESTING.has(queue));
    return [...filled, ...(this.waiting.count === 0 ? [] : ['a room'])];
  }

  /** Until nothing is left to do, however long that takes by the line's clock. */
  async run(): Promise<void> {
    const givesUpAt = this.now + PATIENCE.ms;
    const isOver = () => this.left.length === 0 && [...this.#processes.values()].every(({ link }) => link.held === 0);
    await this.#runUntil(givesUpAt, isOver);
    if (!isOver()) throw new Error(`nothing ends any more: ${this.left.join()}`);
  }

  /** Lets so much time pass. */
  async runFor(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    await this.#runUntil(end, () => false);
    this.#clock.skipTo(end);
  }

  /** Does what can be done at once, and then stands still for so long, as a machine that is suspended: what is due meanwhile is late. */
  async skip(durationMs: number): Promise<void> {
    await this.runFor(0);
    this.#clock.skipTo(this.now + durationMs);
  }

  get now(): number {
    return this.#clock.now();
  }

  async #runUntil(end: number, isOver: () => boolean): Promise<void> {
    const { pick = () => 0, isLoggingErrors = false } = this.#options;
    await settled();
    for (let turns = 0; !isOver(); turns += 1) {
      if (turns > PATIENCE.turns) throw new Error(`it goes on and on: ${this.left.join()}`);
      const up = [...this.#processes].filter(([service]) => !this.down.has(service));
      const links = up.map(([, { link }]) => link);
      if (!(await goOn({ clock: this.#clock, links, end, pick }))) return;
      if (this.#errors.length > 0 && !isLoggingErrors) throw new Error(this.#errors.join('\n'));
    }
  }

  #start(service: string): void {
    const { diesAt = () => false, refuses = () => undefined, tracer } = this.#options;
    const die = () => {
      for (const request of started.underWay) request.endedAt = this.now;
      queueMicrotask(() => this.#start(service));
      return true;
    };
    const link = new MemoryLink(this.broker, { diesAt: (effect) => diesAt(effect, service) && die(), refuses });
    const started: Process = { link, underWay: new Set() };
    this.#processes.set(service, started);
    const tools: StepTools = {
      broker: link.asBroker,
      once: this.#once.of(link),
      log: pino({ level: 'error' }, { write: (line: string) => void this.#errors.push(line) }),
      metrics,
      clock: this.#clock,
      ...(tracer && { tracer }),
    };
    this.#starters[service]?.(tools, started);
  }

  readonly #starters: Record<string, (tools: StepTools, process: Process) => void> = {
    'event-router': (tools) => {
      const { now } = this.#clock;
      const config = this.#configs.router;
      const findSubscriptions: FindSubscriptions = async (events) =>
        this.#ask(() =>
          events.map(({ action, receivers }) =>
            receivers.map((account) => this.subscriptions.find(action.interface, action.name, account)),
          ),
        );
      runStep(routeStep({ findSubscriptions, config, now }), tools);
      runStep(strayStep({ config, now, clock: this.#clock }), tools);
    },
    deliverer: (tools, process) => {
      const clock = this.#clock;
      const { flow, step } = makeDeliverer({
        config: this.#configs.deliverer,
        store: waitingOf(process.link, { waiting: this.waiting, ask: (look) => this.#ask(look) }),
        // Whoever lives is counted while something waits: else that would fill days.
        deliverers: { live: () => this.waiting.untilFilled().then(() => 1), leave: async () => undefined },
        findTargets: async (guids) => this.#ask(() => guids.map((guid) => this.subscriptions.target(guid))),
        tokens: NO_TOKENS,
        callEndpoint: (call, onEnd) => this.#answer(call, process, onEnd),
        broker: tools.broker,
        log: tools.log,
        clock,
        now: clock.now,
      });
      runStep(step, { ...tools, ...flow.tools });
    },
    deactivator: (tools) => {
      const config = this.#configs.deactivator;
      const step = deactivateStep({
        noteEnds: async (ended) => void this.subscriptions.settle(ended),
        endGone: async (gone) => this.subscriptions.endGone(gone, config.endOnGone),
        config,
      });
      runStep(step, tools);
    },
  };

  #ask<T>(look: () => T): T {
    if (this.#options.isAway?.() === true) throw new Unavailable('postgres', async () => undefined);
    return look();
  }

  #answer(call: AttemptRequest, { link, underWay }: Process, onEnd: OnAttempted): void {
    // A process that is dead makes no request.
    if (link.isDead) return;
    const { delivery, callbackUrl: url } = call;
    const headers = requestHeaders(call, this.#clock.now);
    const request: Request = { ...delivery, at: this.now, endedAt: Infinity, url, headers };
    this.requests.push(request);
    underWay.add(request);
    const response = this.receivers.get(delivery.subscription)?.(request) ?? { status: 200 };
    const { status, afterMs = 0, retryAfter }: Response = response;
    const end = () => {
      request.endedAt = Math.min(request.endedAt, this.now);
      underWay.delete(request);
      const durationMs = afterMs;
      if (status === 'none') return onEnd({ isDelivered: false, reason: 'response_timeout', durationMs });
      const rest = restHeaders(status, { 'retry-after': retryAfter });
      onEnd({ ...judge(status), durationMs, ...(rest && { tooMuch: readTooMuch(rest, this.now) }) });
    };
    if (afterMs > 0) this.#clock.after(afterMs, end);
    else queueMicrotask(end);
  }
}

const ENVIRONMENT = {
  DELIVER_ENDPOINTS: '100',
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};

type Configs = ReturnType<typeof readConfigs>;
const known = new Map<string, Configs>();

/** Read once: a thousand lines have the same settings. */
function configsOf(settings: Record<string, string> = {}): Configs {
  const key = JSON.stringify(settings);
  const configs = known.get(key) ?? readConfigs(withConstants({ ...ENVIRONMENT, ...settings }));
  known.set(key, configs);
  return configs;
}

function readConfigs(env: NodeJS.ProcessEnv) {
  const deliverer = readDelivererConfig(env);
  const topology = lineTopology({ schedule: deliverer.schedule, eventsLimitBytes: 2 ** 20, quorumSize: 1 });
  return { router: readRouterConfig(env), deliverer, deactivator: readDeactivatorConfig(env), topology };
}

type Shared = {
  waiting: MemoryWaiting;
  /** Looks there, or throws `Unavailable` while Postgres is away. */
  ask: <T>(look: () => T) => T;
};

/** A query of every second, not simulated while nothing waits: it would fill days. */
const ASKED_ALWAYS = new Set<string>(['claim', 'shutRooms', 'lookAfterHeld', 'flushSums']);
let processes = 0;

/** The waiting room of that link's process: the process dies before something is done there, and does nothing more after its end. */
function waitingOf(link: MemoryLink, { waiting, ask }: Shared): WaitingStore {
  return new Proxy<WaitingStore>(waiting.storeFor(`process ${(processes += 1)}`), {
    get:
      (store, name: keyof WaitingStore) =>
      async (...args: never[]) => {
        const isAlive = name === 'put' || name === 'settle' ? link.survives({ what: name }) : !link.isDead;
        if (!isAlive) return new Promise(() => undefined);
        if (ASKED_ALWAYS.has(name)) await waiting.untilFilled();
        // Each function takes its own arguments.
        return ask(() => (store[name] as (...given: never[]) => Promise<unknown>)(...args));
      },
  });
}
