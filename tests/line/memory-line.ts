import { deactivateStep } from '@waybell/deactivator/deactivate-step';
import { readConfig as readDeactivatorConfig } from '@waybell/deactivator/config';
import type { Deactivation } from '@waybell/deactivator/settle-deliveries';
import type { Call } from '@waybell/deliverer/call-endpoint';
import { readConfig as readDelivererConfig } from '@waybell/deliverer/config';
import { deliverStep, waitingStep } from '@waybell/deliverer/deliver-step';
import { reasonOfStatus } from '@waybell/deliverer/failure-reason';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { openFlow } from '@waybell/deliverer/windows/flow';
import { readConfig as readRouterConfig } from '@waybell/event-router/config';
import { routeStep, strayStep } from '@waybell/event-router/router-steps';
import { lineTopology } from '@waybell/line/line-topology';
import type { Message, Outgoing, Rejection } from '@waybell/line/messages';
import { writeOutcomes, type Outcome } from '@waybell/line/outcomes';
import type { Step } from '@waybell/line/run-step';
import { eventsExchange, logQueue, outcomesExchange } from '@waybell/line/topology';
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

type Consumer = { service: string; isFree: () => boolean; handle: () => Promise<void> };

/**
 * Runs the real steps of the line against each other, without any server: the broker is an array per queue, the clock
 * is a number, and an hour takes no time. Requests are under way at once, as they are in the deliverer.
 */
export class MemoryLine {
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
  readonly #clock = new TurnedClock(NOON);
  readonly #consumers: Map<string, Consumer>;
  readonly #taken = new Map<string, number>();
  /** What a handler threw: a bug, which ends the run. */
  #failure: unknown;
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
    const now = this.#clock.now;
    const delivering = {
      findTarget: async (guid: string) => this.subscriptions.target(guid),
      callEndpoint: (call: Call) => this.#answer(call),
      config: delivererConfig,
      flow: openFlow(delivererConfig.flow, this.#clock),
      now,
    };
    const routerConfig = readRouterConfig(env);
    this.#consumers = new Map([
      ...this.#consume(
        routeStep({
          findSubscriptions: async (action, account) => this.subscriptions.find(action.interface, action.name, account),
          config: routerConfig,
          now,
        }),
      ),
      ...this.#consume(strayStep({ config: routerConfig, now })),
      ...this.#consume(deliverStep(delivering)),
      ...this.#consume(waitingStep(delivering)),
      ...this.#consume(
        deactivateStep({
          settle: async (ended) => this.subscriptions.settle(ended),
          onDeactivated: (off) => this.deactivations.push(off),
          config: deactivatorConfig,
        }),
      ),
      // What the log would write is in `outcomes`.
      [logQueue, { service: 'delivery-log', isFree: () => true, handle: async () => void this.broker.take(logQueue) }],
    ]);
  }

  publish(event: PublishedEvent): void {
    this.publishBytes(`${event.interface}.${event.action}`, Buffer.from(JSON.stringify(event)));
  }

  publishBytes(routingKey: string, body: Buffer): void {
    this.broker.publish({ kind: 'publish', exchange: eventsExchange, routingKey, body }, this.now);
  }

  /** How often something was taken from the queue. */
  taken(queue: string): number {
    return this.#taken.get(queue) ?? 0;
  }

  /** Until nothing is left to do, however long that takes by the line's clock. */
  async run(): Promise<void> {
    await this.#runUntil(Infinity);
  }

  /** Lets so much time pass. */
  async runFor(durationMs: number): Promise<void> {
    const end = this.now + durationMs;
    await this.#runUntil(end);
    this.#clock.skipTo(end);
  }

  get now(): number {
    return this.#clock.now();
  }

  async #runUntil(end: number): Promise<void> {
    for (;;) {
      this.broker.expire(this.now);
      const ready = this.broker.filled().flatMap((queue) => this.#servedBy(queue) ?? []);
      const consumer = ready[this.#pick(ready.length) % ready.length];
      if (consumer !== undefined) {
        consumer.handle().catch((error: unknown) => (this.#failure ??= error));
      } else {
        const next = Math.min(this.broker.nextExpiry() ?? Infinity, this.#clock.nextAt() ?? Infinity);
        if (next === Infinity || next > end) return;
        if (next === this.#clock.nextAt()) this.#clock.step();
        else this.#clock.skipTo(next);
      }
      await settled();
      if (this.#failure !== undefined) throw this.#failure;
    }
  }

  #servedBy(queue: string): Consumer | undefined {
    const consumer = this.#consumers.get(queue);
    return consumer?.isFree() && !this.down.has(consumer.service) ? consumer : undefined;
  }

  #consume<M>(step: Step<M>): [string, Consumer][] {
    let inHand = 0;
    const isFree = () => inHand < step.hold.messages;
    const handle = async (queue: string) => {
      inHand += 1;
      await this.#handle(step, queue);
      inHand -= 1;
    };
    return step.queues.map((queue) => [queue, { service: step.service, isFree, handle: () => handle(queue) }]);
  }

  /** What the wrapper does, in its order, with a crash in between where one is planned. */
  async #handle<M>(step: Step<M>, queue: string): Promise<void> {
    const message = this.broker.take(queue);
    if (message === undefined) return;
    this.#taken.set(queue, this.taken(queue) + 1);
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

  async #answer({ delivery, callbackUrl, verificationToken }: Call) {
    const request = { ...delivery, at: this.now, endedAt: Infinity, url: callbackUrl, token: verificationToken };
    this.requests.push(request);
    const { status, afterMs = 0 } = this.receivers.get(delivery.subscription)?.(request) ?? { status: 200 };
    if (afterMs > 0) await this.#clock.sleep(afterMs);
    request.endedAt = this.now;
    if (status === 'none') return { isDelivered: false, reason: 'response_timeout', durationMs: afterMs };
    if (status >= 200 && status < 300) return { isDelivered: true, status, durationMs: afterMs };
    return { isDelivered: false, status, reason: reasonOfStatus(status), durationMs: afterMs };
  }
}

function isRejection(parsed: unknown): parsed is Rejection {
  return typeof parsed === 'object' && parsed !== null && 'kind' in parsed && parsed.kind === 'reject';
}
