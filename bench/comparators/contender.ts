import type { Parts } from '../lib/processes.ts';
import type { Stand } from '../lib/stand.ts';
import type { PublishTarget } from '../parts/publisher.ts';

/** A way to bring events to callbacks: ours, or what it is compared with. Only one runs at a time. */
export type Contender = {
  name: string;
  /** Starts it on the servers of the stand, with nothing in its queues. */
  start(stand: Stand): Promise<RunningContender>;
};

export type RunningContender = {
  target: PublishTarget;
  parts: Parts;
  /** Deliveries in one message of a delivery queue, on the mean since it was started. */
  perMessage?: () => Promise<number>;
  stop(): Promise<void>;
};
