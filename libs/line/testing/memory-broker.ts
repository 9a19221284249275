import type { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Publication } from '../messages.ts';
import type { Queue, Topology } from '../topology.ts';

export type Kept = { publication: Publication; since: number; deliveryCount: number };
type Place = { spec: Queue; kept: Kept[]; onFilled: (() => void)[] };

/** As much of RabbitMQ as the line uses: the exchanges and queues of its topology, and expiry by a given clock. */
export class MemoryBroker {
  readonly clock: TurnedClock;
  readonly #topology: Topology;
  readonly #places: Map<string, Place>;

  constructor(topology: Topology, clock: TurnedClock) {
    this.#topology = topology;
    this.clock = clock;
    this.#places = new Map(topology.queues.map((spec) => [spec.name, { spec, kept: [], onFilled: [] }]));
  }

  /** Puts a copy into every queue that is bound. False where none is. */
  publish(publication: Publication): boolean {
    const { exchange, routingKey } = publication;
    const spec = this.#topology.exchanges.find(({ name }) => name === exchange);
    if (spec === undefined) throw new Error(`there is no exchange ${exchange}`);
    const isBound = (queue: Queue) =>
      queue.bindings.some(
        (binding) => binding.exchange === exchange && (spec.type === 'fanout' || binding.routingKey === routingKey),
      );
    const targets = [...this.#places.values()].filter((place) => isBound(place.spec));
    for (const { kept, onFilled } of targets) {
      kept.push({ publication, since: this.clock.now(), deliveryCount: 0 });
      for (const tell of onFilled.splice(0)) tell();
    }
    if (targets.length > 0) return true;
    return spec.alternate !== undefined && this.publish({ ...publication, exchange: spec.alternate });
  }

  kept(queue: string): Kept[] {
    return this.#place(queue).kept;
  }

  async untilFilled(queue: string): Promise<void> {
    const { kept, onFilled } = this.#place(queue);
    if (kept.length === 0) await new Promise<void>((resolve) => onFilled.push(resolve));
  }

  /** Names of the queues in which something waits. */
  filled(): string[] {
    return [...this.#places].filter(([, { kept }]) => kept.length > 0).map(([name]) => name);
  }

  /** Moves what has expired to where its queue says. */
  expire(): void {
    for (const { ttlMs, spec, kept } of this.#expiring()) {
      while (kept[0] !== undefined && kept[0].since + ttlMs <= this.clock.now()) {
        const { publication } = kept[0];
        kept.shift();
        const exchange = String(spec.arguments['x-dead-letter-exchange']);
        const routingKey = String(spec.arguments['x-dead-letter-routing-key'] ?? publication.routingKey);
        this.publish({ ...publication, exchange, routingKey });
      }
    }
  }

  /** When the next message expires; Infinity when none will. */
  nextExpiry(): number {
    return Math.min(
      Infinity,
      ...this.#expiring().map(({ ttlMs, kept: [first] }) => (first?.since ?? Infinity) + ttlMs),
    );
  }

  #place(queue: string): Place {
    const place = this.#places.get(queue);
    if (place === undefined) throw new Error(`there is no queue ${queue}`);
    return place;
  }

  #expiring(): (Place & { ttlMs: number })[] {
    return [...this.#places.values()].flatMap((place) => {
      const ttlMs = place.spec.arguments['x-message-ttl'];
      return typeof ttlMs === 'number' && place.kept.length > 0 ? [{ ...place, ttlMs }] : [];
    });
  }
}
