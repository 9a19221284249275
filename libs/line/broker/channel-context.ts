import type { ConfirmChannel } from 'amqplib';
import type { Clock } from '@waybell/runtime/clock';
import type { Destination } from '../publish-errors.ts';

/** What a destination does that people should know of. */
export type DestinationReport =
  | { kind: 'stalled'; unconfirmed: number }
  | { kind: 'confirms again'; stalledMs: number }
  /** No queue took a message. */
  | { kind: 'returned' }
  | { kind: 'channel failed'; reason: string };

/** Publishers to several destinations by one connection. */
export type ChannelContext<D> = {
  clock: Clock;
  open: () => Promise<ConfirmChannel>;
  /** The broker has answered what was asked or sent then. */
  heard: (askedAt: number) => void;
  /** So much more, or less, is under way and not held up. */
  count: (messages: number, bytes: number) => void;
  /** It could go on with what waits. */
  ready: (destination: D) => void;
  /** The broker takes no larger message. */
  learnLargest: (bytes: number) => void;
  report: (report: DestinationReport, destination: Destination) => void;
};
