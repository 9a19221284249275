/** Publishes on a connection of its own: `UnconfirmedMessages` has what is under way, a `ConfirmWatch` notices what goes unanswered. */
import type { Channel, ChannelModel, ConfirmChannel } from 'amqplib';
import type { Clock, Timer } from '@waybell/runtime/clock';
import type { Login } from '@waybell/runtime/login';
import type { ServerAddress } from '@waybell/runtime/server-address';
import type { Broker, BrokerState } from '../broker.ts';
import { type Destination, type OnSettled, type Publication, TooLarge, Unconfirmed } from '../messages.ts';
import { type BrokerLog, close, keepConnected, openChannel, type ReconnectingConnection } from './broker-connection.ts';
import { type DestinationReport, type ChannelContext, DestinationChannel, STALLED_MS } from './destination-channel.ts';
import { asSent } from '../delivery-batch.ts';

export type BrokerPublisher = AsyncDisposable &
  Pick<Broker, 'publish' | 'send' | 'state' | 'onState' | 'stalled' | 'publishing'> & {
    /** False if the broker has answered nothing at all for 5 s though something is unconfirmed. A stalled destination alone does not count. */
    isConfirming(): boolean;
  };

export type BrokerPublisherOptions = ServerAddress & {
  login?: Login;
  name: string;
  heartbeatSeconds: number;
  /** Limit for a confirm, after which the publish is `Unconfirmed`. A broker silent for this long is disconnected. */
  confirmTimeoutMs: number;
  /** Limit of unconfirmed messages over all destinations: a blocked connection would buffer without bound. */
  unconfirmedLimit: number;
  unconfirmedBytesLimit: number;
  /** Exchanges that must exist before anything is published. */
  exchanges: readonly string[];
  /** Runs when a message was unroutable. */
  onReturned?: () => void;
  log: BrokerLog;
  clock: Clock;
  /** Limit for the close handshake. */
  closeLimitMs?: number;
};

const SILENT_MS = 5_000;
const NOT_FOUND = /\b404 \(/;

/** Connects in the background and reconnects. */
export function openPublisher(options: BrokerPublisherOptions): BrokerPublisher {
  const { confirmTimeoutMs, exchanges, clock } = options;
  const limits = { messages: options.unconfirmedLimit, bytes: options.unconfirmedBytesLimit };
  const report = reportTo(options, (why) => reconnecting.drop(why));
  const unconfirmed = new UnconfirmedMessages({ clock, limits, report });
  const listeners: ((state: BrokerState) => void)[] = [];
  const reconnecting = keepConnected({
    ...options,
    name: `${options.name} publish`,
    onOpen: async (connection, channel) => {
      await checkExchanges(connection, exchanges);
      watch.control = channel;
      unconfirmed.open(() => connection.createConfirmChannel());
    },
    onDown: () => {
      watch.control = undefined;
      unconfirmed.close('the connection is gone');
    },
    onState: (state) => {
      for (const listener of listeners) listener(state);
    },
  });
  const watch = new ConfirmWatch({ unconfirmed, connection: reconnecting, confirmTimeoutMs, clock });

  return {
    publish: (publication) =>
      new Promise((resolve, reject) => {
        unconfirmed.send(publication, (error) => (error === undefined ? resolve() : reject(error)));
      }),
    send: (publication, onSettled) => unconfirmed.send(publication, onSettled),
    state: reconnecting.state,
    onState: (listener) => void listeners.push(listener),
    isConfirming: () => !unconfirmed.isSilent(SILENT_MS),
    stalled: () => unconfirmed.stalled(),
    publishing: () => ({
      unconfirmed: unconfirmed.size,
      isBlocked: reconnecting.state() === 'blocked',
      stalled: unconfirmed.stalled(),
    }),
    async [Symbol.asyncDispose]() {
      watch[Symbol.dispose]();
      await reconnecting[Symbol.asyncDispose]();
      unconfirmed.close('the connection is closed');
    },
  };
}

/** Checks all exchanges at the same time, each on its own channel: one round trip instead of one for each. */
async function checkExchanges(connection: ChannelModel, exchanges: readonly string[]): Promise<void> {
  const check = async (exchange: string) => {
    const channel = await openChannel(connection);
    await channel.checkExchange(exchange);
    await close(channel);
  };
  await Promise.all(exchanges.map(check));
}

type ReportDestination = (report: DestinationReport, destination: Destination) => void;

function reportTo(
  { log, onReturned }: Pick<BrokerPublisherOptions, 'log' | 'onReturned'>,
  drop: (why: string) => void,
): ReportDestination {
  return (report, { exchange, routingKey }) => {
    const { kind: _, ...facts } = report;
    const what = { exchange, routingKey, ...facts };
    switch (report.kind) {
      case 'stalled':
        return log.warn(what, 'broker.destination-stalled');
      case 'confirms again':
        return log.info(what, 'broker.destination-confirms-again');
      case 'returned':
        return onReturned?.();
      case 'channel failed':
        log.warn(what, 'broker.channel-failed');
        // Reconnects: nothing may be published until the exchange exists, and each connect checks that.
        if (NOT_FOUND.test(report.reason)) drop(`exchange ${exchange} is missing`);
    }
  };
}

type ConfirmWatchOptions = {
  unconfirmed: UnconfirmedMessages;
  connection: ReconnectingConnection;
  confirmTimeoutMs: number;
  clock: Clock;
};

const CHECK_MS = 500;

/** Twice a second: detects stalled destinations, gives up on overdue confirms, drops a silent connection. */
class ConfirmWatch implements Disposable {
  /** A channel of the current connection that carries no messages; undefined while disconnected. */
  control: Channel | undefined;
  #asked: Channel | undefined;
  readonly #options: ConfirmWatchOptions;
  #timer: Timer;

  constructor(options: ConfirmWatchOptions) {
    this.#options = options;
    this.#timer = this.#checkLater();
  }

  [Symbol.dispose](): void {
    this.#timer[Symbol.dispose]();
  }

  #checkLater(): Timer {
    return this.#options.clock.after(CHECK_MS, () => {
      this.#check();
      this.#timer = this.#checkLater();
    });
  }

  #check(): void {
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

type UnconfirmedOptions = {
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
