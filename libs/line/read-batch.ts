import { reject, type Message, type Rejection } from './messages.ts';
import { readOutcomes, type Outcome } from './outcomes.ts';

/** Reads a batch of outcomes. A message that nobody here wrote is rejected. */
export function readBatch({ body }: Message): Outcome[] | Rejection {
  try {
    return readOutcomes(body);
  } catch (error) {
    return reject('not_outcomes', error instanceof Error ? error.message : String(error));
  }
}
