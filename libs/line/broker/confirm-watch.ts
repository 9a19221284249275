import type { Channel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Link } from './link.ts';
import type { UnconfirmedMessages } from './unconfirmed-messages.ts';

export type ConfirmWatchOptions = {
  unconfirmed: UnconfirmedMessages;
  link: Link;
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
    const { unconfirmed, link, confirmTimeoutMs } = this.#options;
    // While the broker blocks publishers no confirm can come.
    if (link.state() === 'blocked') return unconfirmed.startClocksAgain();
    if (unconfirmed.isSilent(confirmTimeoutMs)) return link.drop(`no answer within ${confirmTimeoutMs} ms`);
    if (this.#asked !== this.control && unconfirmed.isLate()) void this.#ask(this.control);
    this.#judge();
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
    this.#judge();
  }

  #judge(): void {
    const { unconfirmed, link } = this.#options;
    // What has not left yet cannot be answered.
    if (!link.isCongested()) unconfirmed.judge();
  }
}
