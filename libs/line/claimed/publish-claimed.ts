import { systemClock } from '@waybell/runtime/clock';
import { runEvery, type RunEveryOptions } from '@waybell/runtime/run-every';
import { withTimeout } from '@waybell/runtime/with-timeout';
import { publishAgain, type Message } from '../messages.ts';
import { runStep, type RunningStep, type Step, type StepTools } from '../run-step.ts';
import { Claiming, type ClaimedRows } from './claimed-rows.ts';

export type PublishingClaimed = AsyncDisposable &
  Pick<RunningStep, 'waitingFor'> & {
    /** Publishes all that is due. Resolves with whether nothing is left of it but what others have claimed. */
    publishDue(): Promise<boolean>;
  };

const SETTLE_LIMIT_MS = 2_000;

/**
 * A step that publishes what rows say, as it is: what holds for a message from a queue while the broker blocks, stalls, refuses
 * or is away, and while the process ends, holds for them.
 */
export function publishClaimed<Row>(
  name: string,
  rows: ClaimedRows<Row>,
  tools: Omit<StepTools, 'takeRows'>,
): PublishingClaimed {
  const { clock = systemClock } = tools;
  const { reportRejection } = rows;
  const claiming = new Claiming({ ...rows, name, clock });
  const step: Step<Message> = {
    name,
    queues: [],
    heldLimit: { messages: 1, bytes: 1 },
    parse: (message) => message,
    handle: async (message) => [publishAgain(message, message)],
    describe: ({ messageId }) => ({ messageId }),
    traces: 'begin',
    ...(reportRejection !== undefined && { reportRejection }),
  };
  const running = runStep(step, { ...tools, takeRows: (consuming) => claiming.takingFor(consuming) });
  return {
    waitingFor: () => running.waitingFor(),
    publishDue: () => claiming.publishDue(),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      // What is published is to be settled. A Postgres that hangs must not hold this up.
      await withTimeout({ clock, limitMs: SETTLE_LIMIT_MS }, claiming.untilIdle());
    },
  };
}

/** Looks again and again, from now on, for what is due. */
export function publishRepeatedly(
  publishing: Pick<PublishingClaimed, 'publishDue'>,
  how: Omit<RunEveryOptions, 'beginsAtOnce'>,
): AsyncDisposable {
  return runEvery(async () => void (await publishing.publishDue()), { ...how, beginsAtOnce: true });
}
