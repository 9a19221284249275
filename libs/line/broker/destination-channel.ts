import type { ConfirmChannel } from 'amqplib';
import { backoffMs } from '@waybell/runtime/backoff';
import type { Clock } from '@waybell/runtime/clock';
import {
  type Destination,
  largestIn,
  type OnSettled,
  type Publication,
  type PublishError,
  Stalled,
  TooLarge,
  unconfirmed,
  Unconfirmed,
  Unroutable,
} from '../messages.ts';
import { publishOptions } from './amqp-message.ts';

type PendingPublish = { publication: Publication; onSettled: OnSettled; sentAt: number; isReturned: boolean };

/** Changes at a destination that are logged. */
export type DestinationReport =
  | { kind: 'stalled'; unconfirmed: number }
  | { kind: 'confirms again'; stalledMs: number }
  /** A message was unroutable. */
  | { kind: 'returned' }
  | { kind: 'channel failed'; reason: string };

/** The state that the channels of one connection share: the clock, the limits, and the callbacks. */
export type ChannelContext<D> = {
  clock: Clock;
  open: () => Promise<ConfirmChannel>;
  /** Notes that the broker answered something sent at that time. */
  heard: (askedAt: number) => void;
  /** Adds to the unconfirmed messages and bytes that count against the common limits. */
  count: (messages: number, bytes: number) => void;
  /** Queues the destination, to publish its unsent messages when the common limits allow it. */
  ready: (destination: D) => void;
  /** Notes the broker's `max_message_size`, in bytes. */
  learnLargest: (bytes: number) => void;
  report: (report: DestinationReport, destination: Destination) => void;
};

/**
 * Limits of unconfirmed messages to one destination. RabbitMQ stops reading the whole connection once one channel is 400 messages
 * ahead of a stalled queue.
 */
const MOST_MESSAGES = 128;
const MOST_BYTES = 8 * 2 ** 20;

/**
 * Publishes to one destination on a channel of its own: in the broker, a channel waits for each queue that it publishes to, so a
 * stalled queue would block everything else on that channel. Lives as long as its connection.
 *
 *                  detectStall(): no answer for 2 s, while the broker answered what was sent later
 *   CONFIRMING ───────────────────────────────────────────────────────────────────────▶ STALLED
 *       ▲                                                                                │   ▲
 *       │                               send(), once all is answered: 30 s after the     │   │ no answer for 2 s
 *       │                               stall began, then ever later, up to 10 min       ▼   │
 *       └──────── in both states: a confirm, also of a message that was given up ────── PROBING: one message, on a new channel
 *
 * | while | `send()` | unconfirmed messages |
 * |---|---|---|
 * | confirming | publishes up to the limits; the rest is unsent until the owner calls `sendNext()` | count against the common limits |
 * | stalled | settles with `Stalled`, but for the probe | have been settled with `Stalled`; their confirms are still awaited, and count no more |
 *
 * A channel is opened for the first message, and again after it was closed: what was unconfirmed on it is settled with
 * `Unconfirmed`, what is unsent stays. `end()` settles everything with `Unconfirmed`, once and for all.
 *
 * `UnconfirmedMessages` owns it: calls `send`, `sendNext`, `end`, and twice a second `restartClocks` (the broker blocks) or
 * `detectStall` and `giveUpOn`.
 */
export class DestinationChannel implements Destination {
  readonly exchange: string;
  readonly routingKey: string;
  readonly #context: ChannelContext<DestinationChannel>;
  /** Published and unconfirmed, oldest first. */
  readonly #sent = new Set<PendingPublish>();
  /** Not published yet: over a limit, or the channel is not open. */
  #unsent: PendingPublish[] = [];
  #bytes = 0;
  #channel: ConfirmChannel | undefined;
  /** Channels on which confirms may still arrive. */
  readonly #channels = new Set<ConfirmChannel>();
  #openingSince: number | undefined;
  readonly #stall = new Stall();
  #isOver = false;

  constructor({ exchange, routingKey }: Destination, context: ChannelContext<DestinationChannel>) {
    this.exchange = exchange;
    this.routingKey = routingKey;
    this.#context = context;
  }

  get size(): number {
    return this.#sent.size;
  }

  get isStalled(): boolean {
    return this.#stall.isOn;
  }

  /** A single message may exceed the limit of bytes: it could never be published otherwise. */
  get #hasCapacity(): boolean {
    return this.#channel !== undefined && this.#sent.size < MOST_MESSAGES && this.#bytes < MOST_BYTES;
  }

  /** Whether an unsent message could be published now. */
  get isReady(): boolean {
    return this.#unsent.length > 0 && this.#hasCapacity;
  }

  /** Time of the oldest unanswered publish or channel open; undefined if there is none. */
  get unansweredSince(): number | undefined {
    if (this.#openingSince !== undefined) return this.#openingSince;
    for (const { sentAt } of this.#sent) return sentAt;
    return undefined;
  }

  /** `hasCapacity`: whether the limits over all destinations allow one more. */
  send(publication: Publication, onSettled: OnSettled, hasCapacity: boolean): void {
    if (this.isStalled && !this.#beginsProbe()) return onSettled(new Stalled(this));
    const sent = { publication, onSettled, sentAt: 0, isReturned: false };
    if (hasCapacity && this.#unsent.length === 0 && this.#hasCapacity) return this.#publish(sent);
    this.#unsent.push(sent);
    this.#goOn();
  }

  /** Publishes the message that has waited longest. */
  sendNext(): void {
    const next = this.#unsent.shift();
    if (next !== undefined) this.#publish(next);
  }

  /** Settles everything as unconfirmed: the connection is gone. */
  end(why: string): void {
    this.#isOver = true;
    this.#channel = undefined;
    this.#channels.clear();
    const all = [...this.#sent, ...this.#unsent];
    this.#sent.clear();
    this.#unsent = [];
    for (const { onSettled } of all) onSettled(new Unconfirmed(why));
  }

  restartClocks(now: number): void {
    if (this.#openingSince !== undefined) this.#openingSince = now;
    for (const sent of this.#sent) sent.sentAt = now;
  }

  /** Detects whether this destination stalls. `answeredUpTo`: send time of the latest answered request to any destination. */
  detectStall(answeredUpTo: number): void {
    const since = this.unansweredSince;
    const { clock, count, report } = this.#context;
    if (since === undefined || clock.now() - since <= STALLED_MS) return;
    if (this.#stall.begins(clock.now(), { since, answeredUpTo })) {
      count(-this.#sent.size, -this.#bytes);
      report({ kind: 'stalled', unconfirmed: this.#sent.size }, this);
    }
    if (this.isStalled) this.#refuse(() => new Stalled(this));
  }

  /** Settles overdue publishes as unconfirmed. */
  giveUpOn(confirmTimeoutMs: number): void {
    const before = this.#context.clock.now() - confirmTimeoutMs;
    for (const sent of this.#sent) {
      if (sent.sentAt >= before) return;
      this.#settle(sent, new Unconfirmed(`no confirm within ${confirmTimeoutMs} ms`));
    }
  }

  /** While stalled and with nothing unconfirmed, lets a message through from time to time, on a new channel. */
  #beginsProbe(): boolean {
    if (this.unansweredSince !== undefined || this.#unsent.length > 0) return false;
    if (!this.#stall.beginsProbe(this.#context.clock.now())) return false;
    this.#channel = undefined;
    return true;
  }

  #hasAnswered(now: number): void {
    const stalledMs = this.#stall.answered(now);
    if (stalledMs === undefined) return;
    this.#context.count(this.#sent.size, this.#bytes);
    this.#context.report({ kind: 'confirms again', stalledMs }, this);
    for (const channel of this.#channels) {
      if (channel === this.#channel) continue;
      this.#channels.delete(channel);
      // It may be closed already.
      channel.close().catch(() => undefined);
    }
  }

  #goOn(): void {
    if (this.#unsent.length === 0 || this.#isOver) return;
    if (this.#channel === undefined) void this.#open();
    else this.#context.ready(this);
  }

  async #open(): Promise<void> {
    if (this.#openingSince !== undefined) return;
    const { clock, open, heard } = this.#context;
    const askedAt = clock.now();
    this.#openingSince = askedAt;
    try {
      const channel = await open();
      // The connection was given up in the meantime.
      if (this.#isOver) return void channel.close().catch(() => undefined);
      this.#openingSince = undefined;
      this.#channel = channel;
      this.#listen(channel);
      heard(askedAt);
      this.#goOn();
    } catch (error) {
      this.#openingSince = undefined;
      this.#refuseUnsent(() => unconfirmed(error));
    }
  }

  #listen(channel: ConfirmChannel): void {
    this.#channels.add(channel);
    channel.on('error', ({ message }: Error) => {
      this.#context.report({ kind: 'channel failed', reason: message }, this);
      this.#lose(channel, message);
    });
    // Runs before amqplib rejects the confirm of each message.
    channel.prependListener('close', () => this.#lose(channel, 'its channel closed'));
    // A return arrives before its confirm. Messages with the same id all count as returned.
    channel.on('return', ({ properties: { messageId } }) => {
      for (const sent of this.#sent) if (sent.publication.messageId === messageId) sent.isReturned = true;
      this.#context.report({ kind: 'returned' }, this);
    });
  }

  #lose(channel: ConfirmChannel, why: string): void {
    this.#channels.delete(channel);
    if (channel !== this.#channel) return;
    this.#channel = undefined;
    const largest = largestIn(why) ?? Infinity;
    if (largest < Infinity) this.#context.learnLargest(largest);
    for (const sent of this.#sent) this.#settle(sent, tooLarge(sent, largest) ?? new Unconfirmed(why));
    this.#refuseUnsent((sent) => tooLarge(sent, largest));
    // In a microtask: by then it is known whether the connection closes as well.
    queueMicrotask(() => this.#goOn());
  }

  #publish(sent: PendingPublish): void {
    const channel = this.#channel;
    if (channel === undefined) return sent.onSettled(new Unconfirmed('its channel closed'));
    const { publication } = sent;
    const { exchange, routingKey, body } = publication;
    sent.sentAt = this.#context.clock.now();
    this.#sent.add(sent);
    this.#bytes += body.length;
    if (!this.isStalled) this.#context.count(1, body.length);
    try {
      channel.publish(exchange, routingKey, body, publishOptions(publication), (refusal: unknown) =>
        this.#answered(sent, channel, refusal),
      );
    } catch (error) {
      this.#settle(sent, unconfirmed(error));
    }
  }

  #answered(sent: PendingPublish, channel: ConfirmChannel, refusal: unknown): void {
    if (this.#channels.has(channel)) {
      const now = this.#context.clock.now();
      this.#context.heard(sent.sentAt);
      // The broker refuses a message that has waited for a minute at a stalled queue: that is no sign of life.
      if (refusal === null || now - sent.sentAt < STALLED_MS) this.#hasAnswered(now);
    }
    this.#settle(sent, refusal === null ? undefined : unconfirmed(refusal));
  }

  #settle(sent: PendingPublish, error: PublishError | undefined): void {
    if (!this.#sent.delete(sent)) return;
    const { publication, onSettled, isReturned } = sent;
    const bytes = publication.body.length;
    this.#bytes -= bytes;
    if (!this.isStalled) this.#context.count(-1, -bytes);
    onSettled(error ?? (isReturned ? new Unroutable(publication) : undefined));
    this.#context.ready(this);
  }

  /** Settles all callers now. Keeps waiting for the confirms itself, to notice when the destination confirms again. */
  #refuse(why: () => PublishError): void {
    for (const sent of this.#sent) {
      const { onSettled } = sent;
      sent.onSettled = () => undefined;
      onSettled(why());
    }
    this.#refuseUnsent(why);
  }

  /** Settles the unsent messages for which `why` returns an error. */
  #refuseUnsent(why: (sent: PendingPublish) => PublishError | undefined): void {
    const all = this.#unsent;
    this.#unsent = [];
    for (const sent of all) {
      const error = why(sent);
      if (error === undefined) this.#unsent.push(sent);
      else sent.onSettled(error);
    }
  }
}

function tooLarge({ publication }: PendingPublish, largest: number): TooLarge | undefined {
  const { length } = publication.body;
  return length > largest ? new TooLarge(length, largest) : undefined;
}

/** A destination stalls when it has answered nothing for 2 s while the broker answered later requests. */
export const STALLED_MS = 2_000;
const BACKOFF = { firstMs: 30_000, longestMs: 600_000 };

/** Decides whether a destination stalls, and when to probe it. Times come from a monotonic clock. */
class Stall {
  #since: number | undefined;
  #answeredAt = -Infinity;
  #nextProbeAt = Infinity;
  #probes = 0;

  get isOn(): boolean {
    return this.#since !== undefined;
  }

  /** Notes that its queue confirmed or refused a publish. Returns how long it had stalled; undefined if it had not. */
  answered(now: number): number | undefined {
    const stalledMs = this.#since === undefined ? undefined : Math.round(now - this.#since);
    this.#answeredAt = now;
    this.#since = undefined;
    return stalledMs;
  }

  /** Returns true if a stall begins now. `since`: its oldest unanswered publish; `answeredUpTo`: the latest answered one anywhere. */
  begins(now: number, { since, answeredUpTo }: { since: number; answeredUpTo: number }): boolean {
    if (this.isOn || answeredUpTo - Math.max(since, this.#answeredAt) <= STALLED_MS) return false;
    this.#since = now;
    this.#probes = 0;
    this.#plan(now);
    return true;
  }

  /** Whether a message may be published now as a probe. */
  beginsProbe(now: number): boolean {
    if (now < this.#nextProbeAt) return false;
    this.#plan(now);
    return true;
  }

  #plan(now: number): void {
    this.#probes += 1;
    this.#nextProbeAt = now + backoffMs(BACKOFF, this.#probes);
  }
}
