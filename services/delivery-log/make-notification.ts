import type { Event } from '@waybell/events/event';
import { readEvent } from '@waybell/events/read-event';
import { notify } from '@waybell/notifications/notification';
import type { KeptForSending, ManualSending } from './sendings.ts';

/** The event was accepted once, under the limits of that time. */
const UNLIMITED = { maxBytes: Number.MAX_SAFE_INTEGER, maxDepth: 10_000 };

export type MadeNotification = { event: Event; body: Buffer };

/** Makes the notification of an event for this subscription; undefined if the subscription gets none of it. */
export function makeNotification(
  { delivery }: Pick<ManualSending, 'delivery'>,
  kept: KeptForSending,
): MadeNotification | undefined {
  const { body, contentType, auditFieldSet } = kept;
  const reading = readEvent({ body, ...(contentType !== null && { contentType }) }, UNLIMITED);
  if (reading.kind === 'invalid') return undefined;
  const notification = notify(reading.event)({ auditFieldSet, messageGuid: delivery });
  return notification.kind === 'suppressed' ? undefined : { event: reading.event, body: notification.body };
}
