export { JsonNumber } from '@waybell/events/json';
export type * from './events.ts';
export { outboxMigration } from './outbox-migration.ts';
export {
  outboxEvent,
  readOutboxFigures,
  type OutboxConnection,
  type OutboxFigures,
  type OutboxPlace,
  type OutboxPool,
  type OutboxQueries,
  type OutboxStatement,
} from './outbox.ts';
export { InvalidEvent, NotConfirmed, type InvalidEventFacts } from './publish-errors.ts';
export type { PublisherLog, PublisherOptions } from './publisher-options.ts';
export { createPublisher, type Publisher, type PublisherFigures, type PublishOptions } from './publisher.ts';
export type { FailedEvent } from './relay-batch.ts';
export { createRelay, type Relay, type RelayFigures, type RelayOptions } from './relay.ts';
export { writeEvent, type EventInput, type WrittenEvent } from './write-event.ts';
