import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Destination } from '../publish-errors.ts';

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
  /** Queues the destination for its turn to publish waiting messages. */
  ready: (destination: D) => void;
  /** Notes the broker's `max_message_size`, in bytes. */
  learnLargest: (bytes: number) => void;
  report: (report: DestinationReport, destination: Destination) => void;
};
