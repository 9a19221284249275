import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { within } from '@waybell/runtime/within';
import type { Broker } from './broker/connect-broker.ts';
import type { Publication } from './messages.ts';
import { closesDelivery, joinOutcomes, writeOutcome, type Outcome } from './outcomes.ts';
import { publishUntilConfirmed } from './publish-until-confirmed.ts';
import { outcomesExchange } from './topology.ts';

const LARGEST_BATCH = 100;
/** Records of exhausted deliveries carry a body, and a broker refuses messages beyond 16 MiB, with the whole channel. */
const LARGEST_BATCH_CHARACTERS = 2 ** 20;
const LONGEST_WAIT_MS = 20;
/** About a hundred thousand records: what is kept of them while the broker blocks, and lost if the process is killed. */
const LARGEST_BACKLOG_CHARACTERS = 2 ** 25;
const CLOSE_LIMIT_MS = 10_000;

type Entry = {
  record: string;
  mayLetGo: boolean;
  /** Its message is gone: the record is all there is. */
  isLetGo: boolean;
  isHeld: () => boolean;
  resolve: () => void;
  reject: (error: unknown) => void;
};

type BatcherBroker = Pick<Broker, 'publish' | 'isBlocked' | 'onBlocked'>;
type BatcherOptions = { broker: BatcherBroker; clock: Clock; log: Log; backlogCharacters?: number };

/**
 * Collects records of outcomes, so that a hundred attempts cost one message and not a hundred. While the broker blocks
 * publishers it lets go of messages whose delivery is closed, and keeps their records, so many, until it takes them.
 */
export class OutcomeBatcher {
  readonly #broker: BatcherBroker;
  readonly #clock: Clock;
  readonly #log: Log;
  readonly #backlogLimit: number;
  readonly #underWay = new Map<readonly Entry[], Promise<void>>();
  #batch: Entry[] = [];
  #characters = 0;
  #backlogCharacters = 0;
  #isClosed = false;
  #timer: Timer | undefined;

  constructor({ broker, clock, log, backlogCharacters = LARGEST_BACKLOG_CHARACTERS }: BatcherOptions) {
    this.#broker = broker;
    this.#clock = clock;
    this.#log = log;
    this.#backlogLimit = backlogCharacters;
    broker.onBlocked(() => {
      for (const entries of this.#underWay.keys()) this.#letGo(entries);
    });
  }

  /** Whether another message can be let go of while the broker blocks. */
  get hasRoom(): boolean {
    return this.#backlogCharacters < this.#backlogLimit;
  }

  /**
   * Resolves when the batch with this record is confirmed, or when its message need not wait for that. `isHeld`:
   * whether the message it is about still is.
   */
  add(outcome: Outcome, isHeld: () => boolean): Promise<void> {
    return new Promise((resolve, reject) => {
      const record = writeOutcome(outcome);
      this.#batch.push({ record, mayLetGo: closesDelivery(outcome), isLetGo: false, isHeld, resolve, reject });
      this.#characters += record.length;
      if (this.#batch.length >= LARGEST_BATCH || this.#characters >= LARGEST_BATCH_CHARACTERS) this.#flush();
      else this.#timer ??= this.#clock.after(LONGEST_WAIT_MS, () => this.#flush());
    });
  }

  /** Waits for records whose messages are gone, for a while: a broker that blocks must not hold up the end. */
  async close(): Promise<void> {
    await within({ clock: this.#clock, limitMs: CLOSE_LIMIT_MS }, Promise.all(this.#underWay.values()));
    this.#isClosed = true;
  }

  #flush(): void {
    this.#timer?.[Symbol.dispose]();
    this.#timer = undefined;
    const entries = this.#batch;
    this.#batch = [];
    this.#characters = 0;
    this.#underWay.set(entries, this.#publish(entries));
    if (this.#broker.isBlocked()) this.#letGo(entries);
  }

  async #publish(entries: readonly Entry[]): Promise<void> {
    const publication: Publication = {
      kind: 'publish',
      exchange: outcomesExchange,
      routingKey: '',
      body: joinOutcomes(entries.map(({ record }) => record)),
      contentType: 'application/json',
    };
    const isNeeded = () => entries.some(({ isLetGo, isHeld }) => (isLetGo ? !this.#isClosed : isHeld()));
    try {
      await publishUntilConfirmed({ broker: this.#broker, clock: this.#clock }, publication, isNeeded);
      for (const { resolve } of entries) resolve();
    } catch (error) {
      for (const { reject } of entries) reject(error);
      const lost = entries.filter(({ isLetGo }) => isLetGo).length;
      if (lost > 0) this.#log.error({ err: error, records: lost }, 'outcomes.lost');
    }
    this.#underWay.delete(entries);
    for (const { isLetGo, record } of entries) if (isLetGo) this.#backlogCharacters -= record.length;
  }

  #letGo(entries: readonly Entry[]): void {
    for (const entry of entries) {
      if (!entry.mayLetGo || entry.isLetGo || !this.hasRoom) continue;
      entry.isLetGo = true;
      this.#backlogCharacters += entry.record.length;
      entry.resolve();
    }
  }
}
