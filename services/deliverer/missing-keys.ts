import type { Clock } from '@waybell/runtime/clock';
import type { Log } from '@waybell/runtime/log';
import { keyOf } from '@waybell/runtime/secrets';
import { WAITING_MS } from '@waybell/line/topology';

/** A delivery that waits for a key needs it again within this time. */
const ASKED_WITHIN_MS = 2 * WAITING_MS;

/** Keys that SECRET_KEYS of this process lacks and deliveries wait for. */
export class MissingKeys {
  readonly #askedAt = new Map<string, number>();
  readonly #log: Pick<Log, 'error'>;
  readonly #clock: Pick<Clock, 'now'>;

  constructor({ log, clock }: { log: Pick<Log, 'error'>; clock: Pick<Clock, 'now'> }) {
    this.#log = log;
    this.#clock = clock;
  }

  /** Notes that a delivery needs the key. */
  readonly asked = (keyId: string): void => {
    if (!this.#isWaitedFor(keyId)) this.#log.error({ key: keyId }, 'key.missing');
    this.#askedAt.set(keyId, this.#clock.now());
  };

  waitingFor(): string[] {
    return [...this.#askedAt.keys()].filter((keyId) => this.#isWaitedFor(keyId)).map(keyOf);
  }

  #isWaitedFor(keyId: string): boolean {
    return this.#clock.now() - (this.#askedAt.get(keyId) ?? -Infinity) < ASKED_WITHIN_MS;
  }
}
