import type { TurnedClock } from '@waybell/runtime/turned-clock';
import type { Publication } from '../messages.ts';
import type { Exchange, Queue, Topology } from '../topology.ts';

export type Kept = { publication: Publication; deliveryCount: number };
type Place = { spec: Queue; kept: Kept[]; onFilled: (() => void)[] };

/** As much of RabbitMQ as the line uses: the exchanges and queues of its topology, and expiry by a given clock. */
export class MemoryBroker {
  readonly clock: TurnedClock;
  readonly #exchanges: Map<string, Exchange>;
  readonly #all: Place[];
  readonly #places: Map<string, Place>;
  /** The places that are bound, by exchange and, unless that is a fanout, key. */
  readonly #bound: Map<string, Place[]>;

  constructor({ exchanges, queues }: Topology, clock: TurnedClock) {
    this.clock = clock;
    this.#exchanges = new Map(exchanges.map((spec) => [spec.name, spec]));
    this.#all = queues.map((spec): Place => ({ spec, kept: [], onFilled: [] }));
    this.#places = new Map(this.#all.map((place) => [place.spec.name, place]));
    const bound = this.#all.flatMap((place) =>
      place.spec.bindings.map(({ exchange, routingKey }) => ({ place, to: this.#address(exchange, routingKey) })),
    );
    this.#bound = new Map(
      [...Map.groupBy(bound, ({ to }) => to)].map(([to, some]) => [to, some.map(({ place }) => place)]),
    );
  }

  /** Puts a copy into every queue that is bound. False where none is. */
  publish(publication: Publication): boolean {
    const { exchange, routingKey } = publication;
    const targets = this.#bound.get(this.#address(exchange, routingKey)) ?? [];
    for (const place of targets) this.#put(place, publication);
    if (targets.length > 0) return true;
    const { alternate } = this.#exchange(exchange);
    return alternate !== undefined && this.publish({ ...publication, exchange: alternate });
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
    return this.#all.filter(({ kept }) => kept.length > 0).map(({ spec }) => spec.name);
  }

  #put(place: Place, publication: Publication): void {
    place.kept.push({ publication, deliveryCount: 0 });
    for (const tell of place.onFilled.splice(0)) tell();
    const ttlMs = place.spec.arguments['x-message-ttl'];
    if (typeof ttlMs === 'number') this.clock.after(ttlMs, () => this.#expire(place));
  }

  /** Moves the oldest to where its queue says. */
  #expire({ spec, kept }: Place): void {
    const expired = kept.shift();
    if (expired === undefined) return;
    const { publication } = expired;
    const exchange = spec.arguments['x-dead-letter-exchange'];
    if (exchange === undefined) return;
    const routingKey = String(spec.arguments['x-dead-letter-routing-key'] ?? publication.routingKey);
    this.publish({ ...publication, exchange: String(exchange), routingKey });
  }

  #address(exchange: string, routingKey: string): string {
    return this.#exchange(exchange).type === 'fanout' ? exchange : `${exchange} ${routingKey}`;
  }

  #exchange(name: string): Exchange {
    const exchange = this.#exchanges.get(name);
    if (exchange === undefined) throw new Error(`there is no exchange ${name}`);
    return exchange;
  }

  #place(queue: string): Place {
    const place = this.#places.get(queue);
    if (place === undefined) throw new Error(`there is no queue ${queue}`);
    return place;
  }
}
