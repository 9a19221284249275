import { publishRejected } from './aside.ts';
import type { Broker } from './broker/connect-broker.ts';
import type { Held } from './broker/held.ts';
import type { Outgoing } from './messages.ts';
import { OutcomeBatcher } from './outcome-batcher.ts';
import { publishUntilConfirmed } from './publish-until-confirmed.ts';

export type PublishCaused = (held: Held, caused: Outgoing[]) => Promise<void>;

/**
 * Publishes what a message caused; resolves when queues have all of it. Rejects with `Unroutable`, or with
 * `NoLongerHeld`, when nothing is under way any more.
 */
export function publishCausedTo(broker: Broker): PublishCaused {
  const outcomes = new OutcomeBatcher(broker);
  return async (held, caused) => {
    const isHeld = () => held.isHeld();
    const published = await Promise.allSettled(
      caused.map((outgoing) => {
        switch (outgoing.kind) {
          case 'publish':
            return publishUntilConfirmed(broker, outgoing, isHeld);
          case 'outcome':
            return outcomes.add(outgoing.outcome, isHeld);
          case 'reject':
            return publishUntilConfirmed(broker, publishRejected(held.message, outgoing, Date.now()), isHeld);
        }
      }),
    );
    for (const result of published) if (result.status === 'rejected') throw result.reason;
  };
}
