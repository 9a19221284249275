import type { Broker } from './broker/connect-broker.ts';
import type { Publication } from './messages.ts';
import { joinOutcomes, writeOutcome, type Outcome } from './outcomes.ts';
import { publishUntilConfirmed } from './publish-until-confirmed.ts';
import { outcomesExchange } from './topology.ts';

const LARGEST_BATCH = 100;
/** Records of exhausted deliveries carry a body, and a broker refuses messages beyond 16 MiB, with the whole channel. */
const LARGEST_BATCH_CHARACTERS = 2 ** 20;
const LONGEST_WAIT_MS = 20;

type Entry = { record: string; isHeld: () => boolean; resolve: () => void; reject: (error: unknown) => void };

/** Collects records of outcomes, so that a hundred attempts cost one message and not a hundred. */
export class OutcomeBatcher {
  readonly #broker: Pick<Broker, 'publish'>;
  #batch: Entry[] = [];
  #characters = 0;
  #timer: NodeJS.Timeout | undefined;

  constructor(broker: Pick<Broker, 'publish'>) {
    this.#broker = broker;
  }

  /** Resolves when the batch with this record is confirmed. `isHeld`: whether the message it is about still is. */
  add(outcome: Outcome, isHeld: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const record = writeOutcome(outcome);
      this.#batch.push({ record, isHeld, resolve, reject });
      this.#characters += record.length;
      if (this.#batch.length >= LARGEST_BATCH || this.#characters >= LARGEST_BATCH_CHARACTERS) void this.#flush();
      else this.#timer ??= setTimeout(() => void this.#flush(), LONGEST_WAIT_MS);
    });
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    const publication: Publication = {
      kind: 'publish',
      exchange: outcomesExchange,
      routingKey: '',
      body: joinOutcomes(batch.map(({ record }) => record)),
      contentType: 'application/json',
    };
    try {
      await publishUntilConfirmed(this.#broker, publication, () => batch.some(({ isHeld }) => isHeld()));
      for (const { resolve } of batch) resolve();
    } catch (error) {
      for (const { reject } of batch) reject(error);
    }
  }
}
