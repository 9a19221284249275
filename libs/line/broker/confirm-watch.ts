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

/** Twice a second: detects stalled destinations, gives up on overdue confirms, drops a silent connection. */
export class ConfirmWatch implements Disposable {
  /** A channel of the current connection that carries no messages; undefined while disconnected. */
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
    // A blocked broker reads nothing, so no confirm can come.
    if (connection.state() === 'blocked') return unconfirmed.restartClocks();
    if (unconfirmed.isSilent(confirmTimeoutMs)) return connection.drop(`no answer within ${confirmTimeoutMs} ms`);
    if (this.#asked !== this.control && unconfirmed.isLate()) void this.#ask(this.control);
    this.#detectStalls();
    unconfirmed.giveUpOn(confirmTimeoutMs);
  }

  /** Sends a harmless request: its answer proves that the broker responds, and so that an unconfirmed destination stalls. */
  async #ask(control: Channel | undefined): Promise<void> {
    this.#asked = control;
    const askedAt = this.#options.clock.now();
    try {
      // A prefetch has no effect on a channel without consumers.
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
    // Messages that are still in the socket's buffer cannot be confirmed.
    if (!connection.isCongested()) unconfirmed.detectStalls();
  }
}
