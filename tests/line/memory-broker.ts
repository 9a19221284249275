import type { Message, Publication } from '@waybell/line/messages';
import type { Queue, Topology } from '@waybell/line/topology';

/** As much of the broker as the line uses: the exchanges and queues of its topology, and expiry by a given clock. */
export class MemoryBroker {
  readonly #topology: Topology;
  readonly #queues = new Map<string, { spec: Queue; waiting: { message: Message; since: number }[] }>();

  constructor(topology: Topology) {
    this.#topology = topology;
    for (const spec of topology.queues) this.#queues.set(spec.name, { spec, waiting: [] });
  }

  /** Puts a copy into every queue that is bound. Throws where there is none, as a mandatory publish is returned. */
  publish(publication: Publication, now: number): void {
    const { exchange, routingKey, headers = {}, kind: _, ...rest } = publication;
    const traceparent = headers['traceparent'];
    const message = {
      ...rest,
      exchange,
      routingKey,
      ...(typeof traceparent === 'string' && { traceparent }),
      deliveryCount: 0,
      failures: 0,
    };
    if (!this.#route(message, exchange, now)) throw new Error(`no queue takes ${routingKey} of ${exchange}`);
  }

  /** The oldest message of the queue. It is gone from there, as one that is held. */
  take(queue: string): Message | undefined {
    return this.#named(queue).waiting.shift()?.message;
  }

  /** Gives a message back, as a crash of its consumer does: it is the next to be taken. */
  giveBack(message: Message, now: number): void {
    const again = { ...message, deliveryCount: message.deliveryCount + 1 };
    this.#named(message.queue).waiting.unshift({ message: again, since: now });
  }

  /** Moves what has expired to where its queue says. */
  expire(now: number): void {
    for (const { spec, waiting } of this.#queues.values()) {
      const ttlMs = spec.arguments['x-message-ttl'];
      while (typeof ttlMs === 'number' && waiting[0] !== undefined && waiting[0].since + ttlMs <= now) {
        const { message } = waiting[0];
        waiting.shift();
        const exchange = String(spec.arguments['x-dead-letter-exchange']);
        const routingKey = String(spec.arguments['x-dead-letter-routing-key'] ?? message.routingKey);
        this.#route({ ...message, exchange, routingKey, deliveryCount: 0 }, exchange, now);
      }
    }
  }

  /** When the next message expires; undefined when none will. */
  nextExpiry(): number | undefined {
    const times = [...this.#queues.values()].flatMap(({ spec, waiting: [first] }) => {
      const ttlMs = spec.arguments['x-message-ttl'];
      return typeof ttlMs === 'number' && first !== undefined ? [first.since + ttlMs] : [];
    });
    return times.length === 0 ? undefined : Math.min(...times);
  }

  /** Names of the queues in which something waits. */
  filled(): string[] {
    return [...this.#queues].filter(([, { waiting }]) => waiting.length > 0).map(([name]) => name);
  }

  #route(message: Omit<Message, 'queue'>, exchange: string, now: number): boolean {
    const spec = this.#topology.exchanges.find(({ name }) => name === exchange);
    if (spec === undefined) throw new Error(`there is no exchange ${exchange}`);
    const isBound = (queue: Queue) =>
      queue.bindings.some(
        (binding) =>
          binding.exchange === exchange && (spec.type === 'fanout' || binding.routingKey === message.routingKey),
      );
    const targets = [...this.#queues.values()].filter((queue) => isBound(queue.spec));
    for (const target of targets) target.waiting.push({ message: { ...message, queue: target.spec.name }, since: now });
    if (targets.length > 0) return true;
    return spec.alternate !== undefined && this.#route(message, spec.alternate, now);
  }

  #named(name: string) {
    const queue = this.#queues.get(name);
    if (queue === undefined) throw new Error(`there is no queue ${name}`);
    return queue;
  }
}
