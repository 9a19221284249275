import type { Clock } from '@waybell/runtime/clock';
import type { Publication } from '../../messages.ts';
import type { KeptDestination, KeptKey, KeptPublication, KeptStore, WantedKept } from '../kept-store.ts';

type KeptRow = KeptPublication & { keptAt: number; dueAt: number };

/** Stores kept publications in memory, by a clock that the test turns. */
export class MemoryKept implements KeptStore {
  readonly #clock: Pick<Clock, 'now'>;
  #rows: KeptRow[] = [];
  #last = 0;

  constructor(clock: Pick<Clock, 'now'>) {
    this.#clock = clock;
  }

  get size(): number {
    return this.#rows.length;
  }

  async insert(publications: readonly Publication[]): Promise<void> {
    const now = this.#clock.now();
    for (const publication of publications) {
      const destination = `${publication.exchange} ${publication.routingKey}`;
      this.#rows.push({ destination, id: String((this.#last += 1)), publication, keptAt: now, dueAt: now });
    }
  }

  async look(): Promise<KeptDestination[]> {
    return [...Map.groupBy(this.#rows, ({ destination }) => destination)].map(([destination, rows]) => ({
      destination,
      exchange: rows[0]?.publication.exchange ?? '',
      routingKey: rows[0]?.publication.routingKey ?? '',
      publications: rows.length,
      bytes: rows.reduce((sum, { publication }) => sum + publication.body.length, 0),
      oldestMs: this.#clock.now() - (rows[0]?.keptAt ?? 0),
    }));
  }

  async claim(wanted: readonly WantedKept[], how: { bytes: number; forMs: number }): Promise<KeptPublication[]> {
    const now = this.#clock.now();
    const due = wanted.flatMap(({ destination, most }) =>
      this.#rows.filter((row) => row.destination === destination && row.dueAt <= now).slice(0, most),
    );
    let bytes = 0;
    const taken = due.filter(
      ({ publication }) => (bytes += publication.body.length) - publication.body.length < how.bytes,
    );
    for (const row of taken) row.dueAt = now + how.forMs;
    return taken;
  }

  async putOff(keys: readonly KeptKey[], forMs: number): Promise<void> {
    for (const row of this.#of(keys)) row.dueAt = this.#clock.now() + forMs;
  }

  async remove(keys: readonly KeptKey[]): Promise<void> {
    const gone = new Set(this.#of(keys));
    this.#rows = this.#rows.filter((row) => !gone.has(row));
  }

  #of(keys: readonly KeptKey[]): KeptRow[] {
    const ids = new Set(keys.map(({ id }) => id));
    return this.#rows.filter(({ id }) => ids.has(id));
  }
}
