import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import { asSent } from '../delivery-batch.ts';
import { type Destination, type OnSettled, type Publication, TooLarge, Unconfirmed } from '../messages.ts';
import { type ChannelContext, DestinationChannel, type DestinationReport, STALLED_MS } from './destination-channel.ts';

export type UnconfirmedOptions = {
  clock: Clock;
  /** Limits of unconfirmed messages and bytes, without stalled destinations; a blocked connection would buffer without bound. */
  limits: { messages: number; bytes: number };
  report?: (report: DestinationReport, destination: Destination) => void;
};

/**
 * Tracks unconfirmed publishes, and those not sent yet because of the limits. By destination, so that a stalled queue blocks no other.
 */
export class UnconfirmedMessages {
  readonly #clock: Clock;
  readonly #limits: UnconfirmedOptions['limits'];
  readonly #report: NonNullable<UnconfirmedOptions['report']>;
  #context: ChannelContext<DestinationChannel> | undefined;
  /** Destinations of the current connection, by exchange and routing key. */
  #destinations = new Map<string, Map<string, DestinationChannel>>();
  /** Destinations with unsent messages, for which the common limits allow no more, round robin. */
  readonly #inLine = new Set<DestinationChannel>();
  #isAdmitting = false;
  #messages = 0;
  #bytes = 0;
  /** Send time of the latest answered request, and time of the last answer. */
  #answeredUpTo = -Infinity;
  #heardAt = -Infinity;
  /** The broker's limit of a message in bytes; Infinity until it has refused one. */
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

  /** Publishes from now on, on channels opened by `open`. */
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

  /** Stops publishing and settles everything as unconfirmed. */
  close(why: string): void {
    const gone = this.#all();
    this.#context = undefined;
    this.#destinations = new Map();
    this.#inLine.clear();
    [this.#messages, this.#bytes, this.#answeredUpTo] = [0, 0, -Infinity];
    for (const destination of gone) destination.end(why);
  }

  /** Publishes; a delivery as a batch of one. */
  send(given: Publication, onSettled: OnSettled): void {
    const publication = asSent(given);
    const { length } = publication.body;
    if (length > this.#largest) return onSettled(new TooLarge(length, this.#largest));
    if (this.#context === undefined) return onSettled(new Unconfirmed('the broker is away'));
    this.#destinationOf(publication, this.#context).send(publication, onSettled, this.#hasCapacity());
  }

  /** Notes an answer to a request sent at `askedAt`. */
  heard(askedAt: number): void {
    this.#answeredUpTo = Math.max(this.#answeredUpTo, askedAt);
    this.#heardAt = this.#clock.now();
  }

  /** Whether something has been unanswered long enough to probe the broker. */
  isLate(): boolean {
    return this.#isUnanswered(STALLED_MS);
  }

  /** Whether something is unanswered for `limitMs`, and the broker has answered nothing else in that time. */
  isSilent(limitMs: number): boolean {
    return this.#clock.now() - this.#heardAt > limitMs && this.#isUnanswered(limitMs);
  }

  restartClocks(): void {
    this.#heardAt = this.#clock.now();
    for (const destination of this.#all()) destination.restartClocks(this.#heardAt);
  }

  /** Detects destinations that stall, and lets others use their capacity. */
  detectStalls(): void {
    for (const destination of this.#all()) destination.detectStall(this.#answeredUpTo);
    this.#admit();
  }

  /** Settles overdue publishes as unconfirmed. */
  giveUpOn(confirmTimeoutMs: number): void {
    for (const destination of this.#all()) destination.giveUpOn(confirmTimeoutMs);
  }

  #isUnanswered(limitMs: number): boolean {
    const before = this.#clock.now() - limitMs;
    return this.#all().some(({ unansweredSince = Infinity }) => unansweredSince < before);
  }

  /** Publishes round robin over the destinations, up to the limits. */
  #admit(destination?: DestinationChannel): void {
    if (destination?.isReady === true) this.#inLine.add(destination);
    if (this.#isAdmitting || this.#inLine.size === 0) return;
    this.#isAdmitting = true;
    for (const next of this.#inLine) {
      if (!this.#hasCapacity()) break;
      this.#inLine.delete(next);
      if (!next.isReady) continue;
      next.sendNext();
      // Added at the end: this loop reaches it again.
      if (next.isReady) this.#inLine.add(next);
    }
    this.#isAdmitting = false;
  }

  #hasCapacity(): boolean {
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
