import type { TurnedClock } from '@waybell/runtime/turned-clock';
import { asSent } from '../delivery-batch.ts';
import type { Publication } from '../messages.ts';
import type { Exchange, Queue, Topology } from '../topology.ts';

export type QueuedMessage = { publication: Publication; deliveryCount: number };
type MemoryQueue = { spec: Queue; kept: QueuedMessage[] };

/** Simulates as much of RabbitMQ as the line uses: the exchanges and queues of its topology, and expiry by a given clock. */
export class MemoryBroker {
  readonly clock: TurnedClock;
  readonly #exchanges: Map<string, Exchange>;
  readonly #all: MemoryQueue[];
  readonly #byName: Map<string, MemoryQueue>;
  /** Bound queues, by exchange and, unless that is a fanout, key. */
  readonly #bound = new Map<string, MemoryQueue[]>();

  constructor({ exchanges, queues }: Topology, clock: TurnedClock) {
    this.clock = clock;
    this.#exchanges = new Map(exchanges.map((spec) => [spec.name, spec]));
    this.#all = queues.map((spec): MemoryQueue => ({ spec, kept: [] }));
    this.#byName = new Map(this.#all.map((queue) => [queue.spec.name, queue]));
    for (const queue of this.#all)
      for (const { exchange, routingKey } of queue.spec.bindings) this.#bind(queue, exchange, routingKey);
    // Only a fanout is bound to another exchange.
    for (const { name, bindings = [] } of exchanges)
      for (const { exchange, routingKey } of bindings)
        for (const queue of this.#bound.get(name) ?? []) this.#bind(queue, exchange, routingKey);
  }

  /** Puts a copy into every queue that is bound. False if none is. */
  publish(given: Publication): boolean {
    const publication = asSent(given);
    const { exchange, routingKey } = publication;
    const targets = this.#bound.get(this.#address(exchange, routingKey)) ?? [];
    for (const queue of targets) this.#put(queue, publication);
    if (targets.length > 0) return true;
    const { alternate } = this.#exchange(exchange);
    return alternate !== undefined && this.publish({ ...publication, exchange: alternate });
  }

  kept(queue: string): QueuedMessage[] {
    return this.#queue(queue).kept;
  }

  /** Names of the queues that hold messages. */
  filled(): string[] {
    return this.#all.filter(({ kept }) => kept.length > 0).map(({ spec }) => spec.name);
  }

  #put(queue: MemoryQueue, publication: Publication): void {
    queue.kept.push({ publication, deliveryCount: 0 });
    const ttlMs = queue.spec.arguments['x-message-ttl'];
    if (typeof ttlMs === 'number') this.clock.after(ttlMs, () => this.#expire(queue));
  }

  /** Dead-letters the oldest message. */
  #expire({ spec, kept }: MemoryQueue): void {
    const expired = kept.shift();
    if (expired === undefined) return;
    const { publication } = expired;
    const exchange = spec.arguments['x-dead-letter-exchange'];
    if (exchange === undefined) return;
    const routingKey = String(spec.arguments['x-dead-letter-routing-key'] ?? publication.routingKey);
    this.publish({ ...publication, exchange: String(exchange), routingKey });
  }

  #bind(queue: MemoryQueue, exchange: string, routingKey: string): void {
    const address = this.#address(exchange, routingKey);
    this.#bound.set(address, [...(this.#bound.get(address) ?? []), queue]);
  }

  #address(exchange: string, routingKey: string): string {
    return this.#exchange(exchange).type === 'fanout' ? exchange : `${exchange} ${routingKey}`;
  }

  #exchange(name: string): Exchange {
    const exchange = this.#exchanges.get(name);
    if (exchange === undefined) throw new Error(`there is no exchange ${name}`);
    return exchange;
  }

  #queue(name: string): MemoryQueue {
    const queue = this.#byName.get(name);
    if (queue === undefined) throw new Error(`there is no queue ${name}`);
    return queue;
  }
}
