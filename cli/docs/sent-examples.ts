import type { Action } from '@waybell/catalog/action';
import { actionKey, actions } from '@waybell/catalog/actions';
import { exampleEvent, exampleSubscriptionGuid } from '@waybell/contracts/example-event';
import type { SentExample, SentExamples } from '@waybell/contracts/sent-examples';
import type { Event } from '@waybell/events/event';
import { messageGuid } from '@waybell/notifications/message-guid';
import { notify } from '@waybell/notifications/notification';
import { readEvent } from '@waybell/events/read-event';

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

/** Returns what the router sends for the example event of each action, in each form of the action. */
export function makeSentExamples(): SentExamples {
  return Object.fromEntries(actions.map((action) => [actionKey(action), examplesOf(action)]));
}

function examplesOf(action: Action): SentExample[] {
  const body = Buffer.from(JSON.stringify(exampleEvent(action)));
  const reading = readEvent({ body, routingKey: actionKey(action) }, limits);
  if (reading.kind === 'invalid') throw new Error(`the example of ${actionKey(action)} is invalid: ${reading.detail}`);
  const plain: SentExample = { form: 'plain', body: send(reading.event, null) };
  if (action.auditFields === undefined) return [plain];
  return [plain, { form: 'revision', body: send(reading.event, action.auditFields) }];
}

function send(event: Event, auditFieldSet: readonly string[] | null): string {
  const notification = notify(event)({ auditFieldSet, messageGuid: messageGuid(event.guid, exampleSubscriptionGuid) });
  if (notification.kind === 'suppressed') {
    throw new Error(`the example of ${actionKey(event.action)} is not sent: ${notification.reason}`);
  }
  return notification.body.toString('utf8');
}
