import { randomUUID } from 'node:crypto';
import { anEvent, type PublishedEvent } from '../testing/event.ts';
import { MemoryLine, type LineOptions, type Receiver } from './memory-line.ts';
import type { Row } from './memory-subscriptions.ts';

/** A line with one subscription to it, and an event for that. */
export function aLine(what: { row?: Partial<Row>; receiver?: Receiver } & LineOptions = {}) {
  const { row = {}, receiver, ...options } = what;
  const line = new MemoryLine(options);
  const account = randomUUID();
  const subscription = line.subscriptions.add({ interface: 'carrier', action: 'order.created', account, ...row });
  if (receiver !== undefined) line.receivers.set(subscription.guid, receiver);
  const event = (more: Partial<PublishedEvent> = {}) =>
    anEvent({
      interface: subscription.interface,
      action: subscription.action,
      parties: { [subscription.interface]: account },
      ...more,
    });
  return { line, subscription, account, event };
}
