import type { EventInput } from './event-input.ts';
import { writeEvent } from './write-event.ts';

/** A statement that puts an event into the outbox, and the guid that the event has. */
export interface OutboxStatement {
  guid: string;
  text: string;
  values: [event: string];
}

/**
 * Fills in and checks the event; throws `InvalidEvent`. Run the statement in the transaction that makes the change. Its parameter
 * is written `$1`.
 */
export function outboxEvent(event: EventInput): OutboxStatement {
  const { guid, body } = writeEvent(event);
  return { guid, text: 'select waybell_publish($1)', values: [body.toString()] };
}
