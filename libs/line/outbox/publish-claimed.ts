import { systemClock, withTimeout } from '@waybell/runtime/clock';
import { runEvery, type RunEveryOptions } from '@waybell/runtime/run-every';
import { allAtOnce, type Message } from '../messages.ts';
import { type RunningStep, runStep, type Step, type StepTools } from '../run-step.ts';
import { type ClaimedRows, Claiming } from './claimed-rows.ts';

export type PublishingClaimed = AsyncDisposable &
  Pick<RunningStep, 'waitingFor'> & {
    /** Publishes all due rows. Resolves with whether none is left except those claimed by others. */
    publishDue(): Promise<boolean>;
  };

const SETTLE_LIMIT_MS = 2_000;

/**
 * Runs a step that publishes rows unchanged. It treats them like messages of a queue while the broker is blocked, away or refuses, and
 * while the process ends.
 */
export function publishClaimed<Row>(
  name: string,
  rows: ClaimedRows<Row>,
  tools: Omit<StepTools, 'takeRows'>,
): PublishingClaimed {
  const { clock = systemClock } = tools;
  const { reportRejection, mayBeLost, keep } = rows;
  const hint = mayBeLost !== undefined && { mayBeLost };
  const claiming = new Claiming({ ...rows, name, clock });
  const published = (message: Message) => {
    const publication = claiming.publicationOf(message);
    return publication === undefined ? [] : [{ ...publication, ...hint }];
  };
  const step: Step<Message> = {
    name,
    queues: [],
    inHandLimit: { messages: 1, bytes: 1 },
    parse: (message) => message,
    handle: allAtOnce(async (batch) => batch.map(published)),
    describe: ({ messageId }) => ({ messageId }),
    // Rows that are kept have the trace in which they were to be published, if any.
    ...(keep === undefined && { traces: 'begin' }),
    ...(reportRejection !== undefined && { reportRejection }),
  };
  const running = runStep(step, {
    ...tools,
    takeRows: (consuming) => claiming.takingFor(consuming),
    // It waits where it is.
    ...(keep !== undefined && { putPublication: async (publication) => claiming.giveBack(publication) }),
  });
  return {
    waitingFor: () => running.waitingFor(),
    publishDue: () => claiming.publishDue(),
    async [Symbol.asyncDispose]() {
      await running[Symbol.asyncDispose]();
      // Settles published rows, unless Postgres hangs.
      await withTimeout({ clock, limitMs: SETTLE_LIMIT_MS }, claiming.untilIdle());
    },
  };
}

/** Publishes due rows now and at each interval, until disposed. */
export function publishRepeatedly(
  publishing: Pick<PublishingClaimed, 'publishDue'>,
  how: Omit<RunEveryOptions, 'beginsAtOnce'>,
): AsyncDisposable {
  return runEvery(async () => void (await publishing.publishDue()), { ...how, beginsAtOnce: true });
}
