import { publishRejected } from './aside.ts';
import type { Held } from './broker/held.ts';
import type { Message, Outgoing, Rejection } from './messages.ts';
import type { OutcomeBatcher } from './outcome-batcher.ts';
import type { Rejected } from './outcomes.ts';
import { publishUntilConfirmed, type Publishing } from './publish-until-confirmed.ts';

/** What is put on record of a message that is rejected; undefined where nobody could find it by that. */
export type RecordRejection = (message: Message, rejection: Rejection) => Rejected | undefined;

export type PublishCaused = (held: Held, caused: Outgoing[]) => Promise<void>;

/**
 * Publishes what a message caused; resolves when queues have all of it. Rejects with `Unroutable`, or with
 * `NoLongerHeld`, when nothing is under way any more.
 */
export function publishCausedTo(
  publishing: Publishing,
  outcomes: OutcomeBatcher,
  recordRejection: RecordRejection = () => undefined,
): PublishCaused {
  return async (held, caused) => {
    const isHeld = () => held.isHeld();
    const reject = async (rejection: Rejection) => {
      const record = recordRejection(held.message, rejection);
      await Promise.all([
        publishUntilConfirmed(publishing, publishRejected(held.message, rejection, Date.now()), isHeld),
        record && outcomes.add(record, isHeld),
      ]);
    };
    const published = await Promise.allSettled(
      caused.map((outgoing) => {
        switch (outgoing.kind) {
          case 'publish':
            return publishUntilConfirmed(publishing, outgoing, isHeld);
          case 'outcome':
            return outcomes.add(outgoing.outcome, isHeld);
          case 'reject':
            return reject(outgoing);
        }
      }),
    );
    for (const result of published) if (result.status === 'rejected') throw result.reason;
  };
}
