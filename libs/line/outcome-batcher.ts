import type { Broker } from './broker/connect-broker.ts';
import type { Publication } from './messages.ts';
import { writeOutcomes, type Outcome } from './outcomes.ts';
import { publishUntilConfirmed } from './publish-until-confirmed.ts';
import { outcomesExchange } from './topology.ts';

const LARGEST_BATCH = 100;
const LONGEST_WAIT_MS = 20;

type Entry = { outcome: Outcome; isHeld: () => boolean; resolve: () => void; reject: (error: unknown) => void };

/** Collects records of outcomes, so that a hundred attempts cost one message and not a hundred. */
export class OutcomeBatcher {
  readonly #broker: Broker;
  #batch: Entry[] = [];
  #timer: NodeJS.Timeout | undefined;

  constructor(broker: Broker) {
    this.#broker = broker;
  }

  /** Resolves when the batch with this record is confirmed. `isHeld`: whether the message it is about still is. */
  add(outcome: Outcome, isHeld: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      this.#batch.push({ outcome, isHeld, resolve, reject });
      if (this.#batch.length >= LARGEST_BATCH) void this.#flush();
      else this.#timer ??= setTimeout(() => void this.#flush(), LONGEST_WAIT_MS);
    });
  }

  async #flush(): Promise<void> {
    clearTimeout(this.#timer);
    this.#timer = undefined;
    const batch = this.#batch;
    this.#batch = [];
    const publication: Publication = {
      kind: 'publish',
      exchange: outcomesExchange,
      routingKey: '',
      body: writeOutcomes(batch.map(({ outcome }) => outcome)),
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
