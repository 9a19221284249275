import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Publication } from '../messages.ts';
import { DestinationChannel } from './destination-channel.ts';
import { TooLarge, Unconfirmed, type Destination, type OnSettled } from '../publish-errors.ts';
import type { ChannelContext, DestinationReport } from './channel-context.ts';
import { STALLED_MS } from './stall.ts';

export type UnconfirmedOptions = {
  clock: Clock;
  /** What may be unconfirmed at once, beside what stalls; a blocked connection would buffer it without bound. */
  limits: { messages: number; bytes: number };
  report?: (report: DestinationReport, destination: Destination) => void;
};

/**
 * What was published and not yet confirmed, and what waits because that is as much as may be: by destination, so that one
 * whose queue stands still holds up no other.
 */
export class UnconfirmedMessages {
  readonly #clock: Clock;
  readonly #limits: UnconfirmedOptions['limits'];
  readonly #report: NonNullable<UnconfirmedOptions['report']>;
  #context: ChannelContext<DestinationChannel> | undefined;
  /** Destinations of the present connection, by exchange and routing key. */
  #destinations = new Map<string, Map<string, DestinationChannel>>();
  /** Those that could go on if there were room, in their turn. */
  readonly #inLine = new Set<DestinationChannel>();
  #isAdmitting = false;
  #messages = 0;
  #bytes = 0;
  /** The latest sent that the broker has answered, and when it last answered anything. */
  #answeredUpTo = -Infinity;
  #heardAt = -Infinity;
  /** Bytes of the largest message that the broker takes, once it has refused a larger one. */
  #largest = Infinity;

  constructor({ clock, limits, report = () => undefined }: UnconfirmedOptions) {
    this.#clock = clock;
    this.#limits = limits;
    this.#report = report;
  }

  get size(): number {
    return this.#all().reduce((sum, { size }) => sum + size, 0);
  }

  stalled(): Destination[] {
    const stalled = this.#all().filter(({ isStalled }) => isStalled);
    return stalled.map(({ exchange, routingKey }) => ({ exchange, routingKey }));
  }

  /** From now on messages go out by channels that it opens. */
  open(open: () => Promise<ConfirmChannel>): void {
    this.#heardAt = this.#clock.now();
    this.#context = {
      clock: this.#clock,
      open,
      heard: (askedAt) => this.heard(askedAt),
      count: (messages, bytes) => {
        this.#messages += messages;
        this.#bytes += bytes;
      },
      ready: (destination) => this.#admit(destination),
      learnLargest: (bytes) => (this.#largest = bytes),
      report: this.#report,
    };
  }

  /** Nothing goes out any more; no confirm will come for what did. */
  close(why: string): void {
    const gone = this.#all();
    this.#context = undefined;
    this.#destinations = new Map();
    this.#inLine.clear();
    [this.#messages, this.#bytes, this.#answeredUpTo] = [0, 0, -Infinity];
    for (const destination of gone) destination.end(why);
  }

  send(publication: Publication, onSettled: OnSettled): void {
    const { length } = publication.body;
    if (length > this.#largest) return onSettled(new TooLarge(length, this.#largest));
    if (this.#context === undefined) return onSettled(new Unconfirmed('the broker is away'));
    this.#destinationOf(publication, this.#context).send(publication, onSettled, this.#hasRoom());
  }

  /** The broker has answered what was asked of it then. */
  heard(askedAt: number): void {
    this.#answeredUpTo = Math.max(this.#answeredUpTo, askedAt);
    this.#heardAt = this.#clock.now();
  }

  /** Whether something waits for its answer for so long that the broker is to be asked whether it listens. */
  isLate(): boolean {
    return this.#isUnanswered(STALLED_MS);
  }

  /** Whether something waits for its answer for longer, and the broker has answered nothing else meanwhile. */
  isSilent(limitMs: number): boolean {
    return this.#clock.now() - this.#heardAt > limitMs && this.#isUnanswered(limitMs);
  }

  restartClocks(): void {
    this.#heardAt = this.#clock.now();
    for (const destination of this.#all()) destination.restartClocks(this.#heardAt);
  }

  /** Finds what stalls. */
  detectStalls(): void {
    for (const destination of this.#all()) destination.detectStall(this.#answeredUpTo);
    this.#admit();
  }

  /** Waits no longer for confirms that have not come by then, though the broker answers. */
  giveUpOn(confirmTimeoutMs: number): void {
    for (const destination of this.#all()) destination.giveUpOn(confirmTimeoutMs);
  }

  #isUnanswered(limitMs: number): boolean {
    const before = this.#clock.now() - limitMs;
    return this.#all().some(({ unansweredSince = Infinity }) => unansweredSince < before);
  }

  /** One after the other takes its turn, for as long as there is room. */
  #admit(destination?: DestinationChannel): void {
    if (destination?.isReady === true) this.#inLine.add(destination);
    if (this.#isAdmitting || this.#inLine.size === 0) return;
    this.#isAdmitting = true;
    for (const next of this.#inLine) {
      if (!this.#hasRoom()) break;
      this.#inLine.delete(next);
      if (!next.isReady) continue;
      next.sendNext();
      // Behind the others: what is added now is met as well.
      if (next.isReady) this.#inLine.add(next);
    }
    this.#isAdmitting = false;
  }

  #hasRoom(): boolean {
    return this.#messages < this.#limits.messages && this.#bytes < this.#limits.bytes;
  }

  #destinationOf(publication: Publication, context: ChannelContext<DestinationChannel>): DestinationChannel {
    const { exchange, routingKey } = publication;
    let ofExchange = this.#destinations.get(exchange);
    if (ofExchange === undefined) this.#destinations.set(exchange, (ofExchange = new Map()));
    let destination = ofExchange.get(routingKey);
    if (destination === undefined) {
      destination = new DestinationChannel(publication, context);
      ofExchange.set(routingKey, destination);
    }
    return destination;
  }

  #all(): DestinationChannel[] {
    return [...this.#destinations.values()].flatMap((ofExchange) => [...ofExchange.values()]);
  }
}
