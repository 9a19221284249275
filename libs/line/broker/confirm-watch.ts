import type { Channel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { ReconnectingConnection } from './keep-connected.ts';
import type { UnconfirmedMessages } from './unconfirmed-messages.ts';

export type ConfirmWatchOptions = {
  unconfirmed: UnconfirmedMessages;
  connection: ReconnectingConnection;
  confirmTimeoutMs: number;
  clock: Clock;
};

const LOOK_MS = 500;

/** Finds out, by and by, what stalls and what is no longer to be waited for; and gives up a connection that says nothing. */
export class ConfirmWatch implements Disposable {
  /** A channel of the present connection that carries no messages. */
  control: Channel | undefined;
  #asked: Channel | undefined;
  readonly #options: ConfirmWatchOptions;
  #timer: Timer;

  constructor(options: ConfirmWatchOptions) {
    this.#options = options;
    this.#timer = this.#lookLater();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #lookLater(): Timer {
    return this.#options.clock.after(LOOK_MS, () => {
      this.#look();
      this.#timer = this.#lookLater();
    });
  }

  #look(): void {
    const { unconfirmed, connection, confirmTimeoutMs } = this.#options;
    // While the broker blocks publishers no confirm can come.
    if (connection.state() === 'blocked') return unconfirmed.restartClocks();
    if (unconfirmed.isSilent(confirmTimeoutMs)) return connection.drop(`no answer within ${confirmTimeoutMs} ms`);
    if (this.#asked !== this.control && unconfirmed.isLate()) void this.#ask(this.control);
    this.#detectStalls();
    unconfirmed.giveUpOn(confirmTimeoutMs);
  }

  /** Whether the broker answers at all: only beside that can a destination be said to stall. */
  async #ask(control: Channel | undefined): Promise<void> {
    this.#asked = control;
    const askedAt = this.#options.clock.now();
    try {
      // It changes nothing on a channel that nothing is consumed by.
      await control?.prefetch(0);
    } catch {
      return;
    }
    if (control !== this.control) return;
    this.#asked = undefined;
    this.#options.unconfirmed.heard(askedAt);
    this.#detectStalls();
  }

  #detectStalls(): void {
    const { unconfirmed, connection } = this.#options;
    // What has not left yet cannot be answered.
    if (!connection.isCongested()) unconfirmed.detectStalls();
  }
}
