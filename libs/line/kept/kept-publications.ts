import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { microBatch } from '@waybell/runtime/micro-batch';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Broker } from '../broker/connect-broker.ts';
import { asKept, type Publication } from '../messages.ts';
import type { KeptDestination, KeptStore } from './kept-store.ts';
import { SendingOn } from './sending-on.ts';

export type KeptOptions = {
  store: KeptStore;
  broker: Pick<Broker, 'publish' | 'state' | 'onState'>;
  /** What all that is kept may weigh together, about: more is not kept. */
  mostBytes: number;
  log: Pick<Log, 'info' | 'warn'>;
  clock: Clock;
};

/** What is kept of this service, about; `keptTotal` and `sentOnTotal` are what this process did since it began. */
export type KeptFigures = {
  publications: number;
  bytes: number;
  oldestMs: number;
  keptTotal: number;
  sentOnTotal: number;
};

const LARGEST_BATCH = 100;
/** Bodies go to Postgres as text, twice as long and copied several times. */
const HEAVIEST_BATCH_BYTES = 2 ** 20;

type NamedPublication = { name: string; publication: Publication };

/**
 * Publications that the broker does not take now: it blocks publishers, their queue does not confirm or is not there. They
 * are kept in Postgres and sent on from there once it takes them, by this process or another of its service. Each may
 * arrive twice, and in any order: their consumers recognise repeats.
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
   * Resolves when it is committed. Rejects with `Unavailable` while Postgres is away, in which case it may be kept all the
   * same, and while too much is kept.
   */
  readonly keep = async (publication: Publication): Promise<void> => {
    if (this.#isFull()) throw new Unavailable('room for kept publications', () => this.#untilRoom());
    await this.#insert({ name: String((this.#last += 1)), publication });
    const { publication: kept } = asKept(publication);
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
    // What was kept meanwhile it may not have seen.
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

  /** The first of many. */
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
