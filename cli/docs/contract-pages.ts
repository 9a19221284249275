import { actions, actionKey } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/contracts/document-files';
import { families } from '@waybell/contracts/families';
import { familyPage, indexPage } from '@waybell/contracts/reference-pages';
import { writeJson } from '@waybell/contracts/write-json';
import type { Action } from '@waybell/catalog/action';
import { exampleEvent, exampleSubscriptionGuid } from '@waybell/contracts/example-event';
import type { SentExample, SentExamples } from '@waybell/contracts/sent-examples';
import type { Event } from '@waybell/events/event';
import { messageGuid } from '@waybell/notifications/message-guid';
import { notify } from '@waybell/notifications/notification';
import { readEvent } from '@waybell/events/read-event';

/** Everything that is made from the catalog, by its path in the repository. */
export function contractPages(): Record<string, () => string | Promise<string>> {
  const sentExamples = makeSentExamples();
  const documents = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples });
  return {
    // The API makes the same documents from these, without the router.
    'libs/contracts/sent-examples.json': () => writeJson(sentExamples),
    ...Object.fromEntries(
      Object.entries({ ...documents, ...adminDocumentFiles(actions) }).map(([path, text]) => [
        `docs/${path}`,
        () => text,
      ]),
    ),
    'docs/reference/README.md': indexPage,
    ...Object.fromEntries(
      families.map((family) => [`docs/reference/${family.name}.md`, () => familyPage(family, sentExamples)]),
    ),
  };
}

const limits = { maxBytes: 1_048_576, maxDepth: 32 };

/** Returns what the router sends for the example event of each action, in each form of the action. */
function makeSentExamples(): SentExamples {
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
