import { deactivateStep } from '@waybell/deactivator/deactivate-step';
import { readConfig as readDeactivatorConfig } from '@waybell/deactivator/config';
import type { Deactivation } from '@waybell/deactivator/settle-deliveries';
import type { Call } from '@waybell/deliverer/call-endpoint';
import { readConfig as readDelivererConfig } from '@waybell/deliverer/config';
import { deliverStep } from '@waybell/deliverer/deliver-step';
import { reasonOfStatus } from '@waybell/deliverer/failure-reason';
import { readConfig as readRouterConfig } from '@waybell/event-router/config';
import { routeStep, strayStep } from '@waybell/event-router/router-steps';
import { lineTopology } from '@waybell/line/line-topology';
import type { Message, Outgoing, Rejection } from '@waybell/line/messages';
import { writeOutcomes, type Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { eventsExchange, outcomesExchange } from '@waybell/line/topology';
import type { PublishedEvent } from '../testing/event.ts';
import { MemoryBroker } from './memory-broker.ts';
import { MemorySubscriptions } from './memory-subscriptions.ts';

/** How a receiver answers: with a status, or not in time. */
export type Response = { status: number | 'none'; afterMs?: number };
export type Receiver = (request: Request) => Response;
export type Request = { at: number; endedAt: number; url: string; token: string } & Call['delivery'];

/** Where a process dies while it handles a message: what it does next, it does not do. */
export type Crash = 'publish' | 'remember' | 'acknowledge';

export type LineOptions = {
  /** Settings of the services that are to differ from the specification's. */
  settings?: Record<string, string>;
  crash?: (service: string, message: Message) => Crash | undefined;
  /** Which of so many queues with something in them is served next. */
  pick?: (count: number) => number;
};

const ADDRESSES = {
  AMQP_URL: 'amqp://unused',
  DATABASE_URL: 'postgres://unused',
  REDIS_URL: 'redis://unused',
  SECRET_KEYS: `k1:${Buffer.alloc(32, 1).toString('base64')}`,
};
const NOON = Date.UTC(2026, 10, 20, 12);

/**
 * Runs the real steps of the line against each other, without any server: the broker is an array per queue, the clock
 * is a number, and an hour takes no time.
 */
export class MemoryLine {
  now = NOON;
  readonly subscriptions = new MemorySubscriptions();
  readonly requests: Request[] = [];
  readonly outcomes: Outcome[] = [];
  readonly rejections: (Rejection & { message: Message })[] = [];
  readonly deactivations: Deactivation[] = [];
  /** Answers 200 at once unless told otherwise, by subscription. */
  readonly receivers = new Map<string, Receiver>();
  /** Services that are down: their queues fill. */
  readonly down = new Set<string>();
  readonly broker: MemoryBroker;
  readonly #consumers: Map<string, () => Promise<void>>;
  readonly #services = new Map<string, string>();
  readonly #remembered = new Map<string, { fingerprint: string; until: number }>();
  readonly #crash: NonNullable<LineOptions['crash']>;
  readonly #pick: NonNullable<LineOptions['pick']>;

  constructor({ settings = {}, crash = () => undefined, pick = () => 0 }: LineOptions = {}) {
    this.#crash = crash;
    this.#pick = pick;
    const env = { ...ADDRESSES, ...settings };
    const delivererConfig = readDelivererConfig(env);
    const deactivatorConfig = readDeactivatorConfig(env);
    this.subscriptions.offOnExhausted = deactivatorConfig.rules.offOnExhausted;
    const { schedule } = delivererConfig;
    this.broker = new MemoryBroker(lineTopology({ schedule, eventsLimitBytes: 2 ** 20, quorumSize: 1 }));
    const now = () => this.now;
    this.#consumers = new Map([
      ...this.#consume(
        routeStep({
          findSubscriptions: async (action, account) => this.subscriptions.find(action.interface, action.name, account),
          config: readRouterConfig(env),
          now,
        }),
      ),
      ...this.#consume(strayStep()),
      ...this.#consume(
        deliverStep({
          findTarget: async (guid) => this.subscriptions.target(guid),
          callEndpoint: async (call) => this.#answer(call),
          config: delivererConfig,
          now,
        }),
      ),
      ...this.#consume(
        deactivateStep({
          settle: async (ended) => this.subscriptions.settle(ended),
          onDeactivated: (off) => this.deactivations.push(off),
          config: deactivatorConfig,
        }),
      ),
    ]);
  }

  publish(event: PublishedEvent): void {
    this.publishBytes(`${event.interface}.${event.action}`, Buffer.from(JSON.stringify(event)));
  }

  publishBytes(routingKey: string, body: Buffer): void {
    this.broker.publish({ kind: 'publish', exchange: eventsExchange, routingKey, body }, this.now);
  }

  /** Until nothing is left to do, however long that takes by the line's clock. */
  async run(): Promise<void> {
    await this.#runUntil(Infinity);
  }

  /** Lets so much time pass. */
  async runFor(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    await this.#runUntil(end);
    this.now = Math.max(this.now, end);
  }

  async #runUntil(end: number): Promise<void> {
    for (;;) {
      this.broker.expire(this.now);
      const ready = this.broker.filled().filter((queue) => this.#isServed(queue));
      const queue = ready[this.#pick(ready.length) % ready.length];
      if (queue !== undefined) {
        await this.#consumers.get(queue)?.();
        continue;
      }
      const expiry = this.broker.nextExpiry();
      if (expiry === undefined || expiry > end) return;
      this.now = Math.max(this.now, expiry);
    }
  }

  #isServed(queue: string): boolean {
    return this.#consumers.has(queue) && !this.down.has(this.#services.get(queue) ?? '');
  }

  #consume<M>(step: Step<M>): [string, () => Promise<void>][] {
    return step.queues.map((queue) => {
      this.#services.set(queue, step.service);
      return [queue, () => this.#handle(step, queue)];
    });
  }

  /** What the wrapper does, in its order, with a crash in between where one is planned. */
  async #handle<M>(step: Step<M>, queue: string): Promise<void> {
    const message = this.broker.take(queue);
    if (message === undefined) return;
    const crash = message.deliveryCount === 0 ? this.#crash(step.service, message) : undefined;
    const parsed = step.parse(message);
    if (isRejection(parsed)) {
      this.#publish(message, [parsed]);
      return;
    }
    const known = step.once && this.#recall(step.once.keyOf(parsed).key);
    const caused =
      step.once && known !== undefined
        ? step.once.onRepeat(parsed, known === step.once.keyOf(parsed).fingerprint)
        : await step.handle(parsed);
    if (crash === 'publish') return this.broker.giveBack(message, this.now);
    this.#publish(message, caused);
    if (crash === 'remember') return this.broker.giveBack(message, this.now);
    if (step.once && known === undefined && step.once.isWorthRemembering(caused)) {
      const { key, fingerprint } = step.once.keyOf(parsed);
      this.#remembered.set(key, { fingerprint, until: this.now + step.once.ttlMs });
    }
    if (crash === 'acknowledge') this.broker.giveBack(message, this.now);
  }

  #publish(message: Message, caused: Outgoing[]): void {
    for (const outgoing of caused) {
      if (outgoing.kind === 'reject') this.rejections.push({ ...outgoing, message });
      else if (outgoing.kind === 'publish') this.broker.publish(outgoing, this.now);
      else {
        this.outcomes.push(outgoing.outcome);
        const body = writeOutcomes([outgoing.outcome]);
        this.broker.publish({ kind: 'publish', exchange: outcomesExchange, routingKey: '', body }, this.now);
      }
    }
  }

  #recall(key: string): string | undefined {
    const mark = this.#remembered.get(key);
    return mark !== undefined && mark.until > this.now ? mark.fingerprint : undefined;
  }

  #answer({ delivery, callbackUrl, verificationToken }: Call) {
    const request = { ...delivery, at: this.now, endedAt: this.now, url: callbackUrl, token: verificationToken };
    const { status, afterMs = 0 } = this.receivers.get(delivery.subscription)?.(request) ?? { status: 200 };
    this.now += afterMs;
    request.endedAt = this.now;
    this.requests.push(request);
    if (status === 'none') return { isDelivered: false, reason: 'response_timeout', durationMs: afterMs };
    if (status >= 200 && status < 300) return { isDelivered: true, status, durationMs: afterMs };
    return { isDelivered: false, status, reason: reasonOfStatus(status), durationMs: afterMs };
  }
}

function isRejection(parsed: unknown): parsed is Rejection {
  return typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'reject';
}
