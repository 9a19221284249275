import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { microBatch } from '@waybell/runtime/micro-batch';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker.ts';
import { withDelayElapsed, type Publication } from '../messages.ts';
import type { KeptDestination, KeptStore } from './kept-store.ts';
import { SendingOn } from './sending-on.ts';

export type KeptOptions = {
  store: KeptStore;
  broker: Pick<Broker, 'publish' | 'state' | 'onState'>;
  /** Approximate limit of the kept bodies of the service, in bytes; beyond it `keep` rejects. */
  mostBytes: number;
  log: Pick<Log, 'info' | 'warn'>;
  clock: Clock;
};

/** Kept publications of the service, approximately; `keptTotal` and `sentOnTotal` count what this process did since its start. */
export type KeptFigures = {
  publications: number;
  bytes: number;
  oldestMs: number;
  keptTotal: number;
  sentOnTotal: number;
};

const LARGEST_BATCH = 100;
/** Limit of the bodies in one insert: they go to Postgres as text, twice as long and copied several times. */
const HEAVIEST_BATCH_BYTES = 2 ** 20;

type NamedPublication = { name: string; publication: Publication };

/**
 * Keeps publications in Postgres while the broker does not take them: it blocks publishers, or their queue is stalled or missing. This
 * process, or another of its service, sends them on later. Each may arrive twice and in any order; consumers recognise repeats.
 */
export class KeptPublications implements AsyncDisposable {
  readonly #options: KeptOptions;
  readonly #insert: (named: NamedPublication) => Promise<void>;
  readonly #sendingOn: SendingOn;
  #last = 0;
  #amount = { publications: 0, bytes: 0, oldestMs: 0 };
  #keptTotal = 0;
  #isAnythingKept = false;

  constructor(options: KeptOptions) {
    const { store } = options;
    this.#options = options;
    this.#insert = microBatch<NamedPublication, void>(
      async (all) => {
        await store.insert(all.map(({ publication }) => publication));
        return [];
      },
      {
        nameOf: ({ name }) => name,
        largest: LARGEST_BATCH,
        heaviest: { weigh: ({ publication }) => publication.body.length, most: HEAVIEST_BATCH_BYTES },
      },
    );
    this.#sendingOn = new SendingOn({ ...options, look: () => this.#look() });
  }

  /**
   * Resolves when the publication is committed. Rejects with `Unavailable` while too much is kept, or while Postgres is away; in the
   * latter case it may be kept nevertheless.
   */
  readonly keep = async (publication: Publication): Promise<void> => {
    if (this.#isFull()) throw new Unavailable('room for kept publications', () => this.#untilRoom());
    await this.#insert({ name: String((this.#last += 1)), publication });
    const { publication: kept } = withDelayElapsed(publication);
    const { exchange, routingKey, body } = kept;
    this.#keptTotal += 1;
    this.#amount.publications += 1;
    this.#amount.bytes += body.length;
    this.#tell({ exchange, routingKey });
    this.#sendingOn.kept(kept);
  };

  figures(): KeptFigures {
    return { ...this.#amount, keptTotal: this.#keptTotal, sentOnTotal: this.#sendingOn.total };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.#sendingOn[Symbol.asyncDispose]();
  }

  async #look(): Promise<KeptDestination[]> {
    const before = this.#keptTotal;
    const found = await this.#options.store.look();
    // The count may lack what was kept in the meantime.
    if (before !== this.#keptTotal) return found;
    this.#amount = {
      publications: found.reduce((sum, { publications }) => sum + publications, 0),
      bytes: found.reduce((sum, { bytes }) => sum + bytes, 0),
      oldestMs: found.reduce((oldest, { oldestMs }) => Math.max(oldest, oldestMs), 0),
    };
    const [first] = found;
    if (first !== undefined) this.#tell(first);
    else if (this.#isAnythingKept) {
      this.#isAnythingKept = false;
      this.#options.log.info({ sentOnTotal: this.#sendingOn.total }, 'publications.sent-on');
    }
    return found;
  }

  /** Logs only the first kept publication, until all are sent on. */
  #tell({ exchange, routingKey }: Pick<Publication, 'exchange' | 'routingKey'>): void {
    if (this.#isAnythingKept) return;
    this.#isAnythingKept = true;
    this.#options.log.warn({ exchange, routingKey }, 'publications.kept');
  }

  #isFull(): boolean {
    return this.#amount.bytes >= this.#options.mostBytes;
  }

  async #untilRoom(): Promise<void> {
    if (this.#isFull()) throw new Error('as much is kept as may be');
  }
}
