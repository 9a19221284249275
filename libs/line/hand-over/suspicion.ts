/**
 * When a message is suspected of killing its process, and what happens to it then.
 *
 * A message that came back to its queue may have crashed the process that had it. After some crashes it goes to the suspects lane
 * of its step, where messages are handled one at a time (`run-step.ts`). If it crashes processes there too, or its handler throws
 * there again and again, it goes to the rejected queue. One whose handler throws for the first time goes to the lane at once.
 *
 * | what | crashes | then |
 * |---|---|---|
 * | a message alone, in its queue | 5 `CRASHES` | goes to the suspects lane |
 * | a row of a waiting room | 3 `CRASHES_OF_ROOM` | goes to the suspects lane |
 * | a batch of several | 3 `CRASHES_OF_BATCH` | each member goes back to the queue alone, its crashes counted from zero |
 * | a batch that is still whole | 12 `CRASHES_UNOPENED` | is rejected unopened: reading it may be what kills |
 * | a suspect in the lane | 5 `CRASHES` | is rejected |
 *
 * Fewer suffice in a room: its claims count crashes alone, and no lost connection. A batch is split soon, as each of its members
 * that kills may do so again while the batch is in hand; for the same reason the limit of a whole one is far above that of the
 * split. A suspect for which the handler throws `FAILURES` times is rejected too.
 */
import {
  waybellHeaders,
  type Death,
  type Message,
  type Publication,
  publishAgain,
  reject,
  type Rejection,
  TooLarge,
  Unroutable,
} from '../messages.ts';
import { rejectedExchange, suspectsExchange } from '../topology.ts';

/** The source of a message: its own queue or a waiting room, or the suspects lane. */
export type Lane = 'queue' | 'suspects';

type Intake = 'handle' | 'put aside' | 'send alone' | 'reject';

// The limits of the table above.
const CRASHES = 5;
export const CRASHES_OF_ROOM = 3;
const CRASHES_OF_BATCH = 3;
export const CRASHES_UNOPENED = 12;
const FAILURES = 5;

/** The rejection of a message that reached its last limit of crashes. */
export const KILLED = reject('process_killed', 'the process that handled it died, each time');

/** Decides how to treat a message, given the number of members in its source. */
export function intakeOf(lane: Lane, { crashes = 0, deliveryCount, waited }: Message, size: number): Intake {
  if (lane === 'queue') {
    if (size > 1) return crashes < CRASHES_OF_BATCH ? 'handle' : 'send alone';
    return crashes < (waited === undefined ? CRASHES : CRASHES_OF_ROOM) ? 'handle' : 'put aside';
  }
  // This process saw the return and did not crash. The next process would count the return as a crash: the count must start at
  // zero.
  if (crashes < deliveryCount) return 'put aside';
  return crashes < CRASHES ? 'handle' : 'reject';
}

/** Returns how often it has now failed as a suspect; undefined if too often, or if the error is final. */
export function failuresAfter(lane: Lane, failures: number, error: unknown): number | undefined {
  if (error instanceof TooLarge) return undefined;
  if (lane === 'queue') return 0;
  return failures + 1 < FAILURES ? failures + 1 : undefined;
}

/**
 * Names the reason to reject a message that fails repeatedly or for good, from its last error. `unbound`: the topology lacks a
 * binding; the message is good once that exists. `too_large_for_broker`: the broker's limit is too low. `handler_failed`: a bug,
 * or a poisonous message.
 */
export function rejectionFor(error: unknown): Rejection {
  if (error instanceof Unroutable) return reject('unbound', error.message);
  if (error instanceof TooLarge) return reject('too_large_for_broker', error.message);
  return reject('handler_failed', String(error));
}

/** Publishes to the suspects lane of a step, where messages are taken one at a time. */
export function publishSuspect(message: Message, step: string, failures: number): Publication {
  return aside(message, suspectsExchange, step, { [waybellHeaders.failures]: failures });
}

/** Publishes to the message's own queue; a delivery leaves in a batch of its own. */
export function publishAlone(message: Message): Publication {
  const same = publishAgain(message, message);
  return { ...same, headers: { [waybellHeaders.cameBefore]: 1, ...same.headers } };
}

/** Publishes to the rejected queue: the original bytes, where they came from, the reason and the time. */
export function publishRejected(message: Message, { reason, detail }: Rejection, now: number): Publication {
  return publishRejectedAgain(message, { reason, detail, at: new Date(now).toISOString() });
}

/** Publishes back to the rejected queue, unchanged, a message that the broker moved out of it. */
export function publishRejectedAgain(
  message: Message,
  { reason, detail, at }: Required<Death>['rejected'],
): Publication {
  return aside(message, rejectedExchange, '', {
    [waybellHeaders.reason]: reason,
    [waybellHeaders.detail]: detail,
    [waybellHeaders.at]: at,
  });
}

function aside(
  message: Message,
  exchange: string,
  routingKey: string,
  headers: Record<string, string | number>,
): Publication {
  const same = publishAgain(message, { exchange, routingKey });
  const origin = {
    [waybellHeaders.queue]: message.queue,
    [waybellHeaders.exchange]: message.exchange,
    [waybellHeaders.routingKey]: message.routingKey,
    ...(message.userId !== undefined && { [waybellHeaders.user]: message.userId }),
  };
  return { ...same, headers: { ...headers, ...origin, ...same.headers } };
}
