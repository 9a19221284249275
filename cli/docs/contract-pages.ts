import { actions, actionKey } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/contracts/document-files';
import { families } from '@waybell/contracts/families';
import { familyPage, indexPage } from '@waybell/contracts/reference-pages';
import { writeJson } from '@waybell/contracts/write-json';
import { packageTypes } from './package-types.ts';
import type { Action } from '@waybell/catalog/action';
import { exampleEvent, exampleSubscriptionGuid } from '@waybell/contracts/example-event';
import type { SentExample, SentExamples } from '@waybell/contracts/sent-examples';
import type { Event } from '@waybell/events/event';
import { messageGuid } from '@waybell/notifications/message-guid';
import { notify } from '@waybell/notifications/notification';
import { readEvent } from '@waybell/events/read-event';
import { actingPaths } from '@waybell/contracts/openapi/acting-paths';
import { adminSchemas } from '@waybell/contracts/openapi/admin-document';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';

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
    ...consoleTypes(sentExamples),
    ...packageTypes,
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

/** The types by which the console asks, of each interface: they are those of the published documents. */
function consoleTypes(sentExamples: SentExamples): Record<string, () => Promise<string>> {
  const published = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples });
  return {
    'apps/console/src/api/client-api.d.ts': () => typesOf(published['openapi.json']),
    'apps/console/src/api/operator-api.d.ts': () => typesOf(adminDocumentFiles(actions)['admin-openapi.json'], 'own'),
  };
}

/**
 * Without what receivers are sent and without refusals, which all are problems: they are most of the document, and the console reads neither
 * by its type. `own`: nor what operators ask for a client, which the console asks by the client's types.
 */
async function typesOf(text: string | undefined, which: 'all' | 'own' = 'all'): Promise<string> {
  const document = JSON.parse(text ?? '') as OpenAPI3 & { webhooks?: unknown };
  delete document.webhooks;
  if (which === 'own') leaveActing(document);
  const schemas = document.components?.schemas ?? {};
  for (const name of Object.keys(schemas)) if (name.startsWith('notification.')) delete schemas[name];
  for (const { responses } of operationsOf(document)) {
    for (const status of Object.keys(responses)) if (!status.startsWith('2')) delete responses[status];
  }
  const ast = await openapiTypes(document, { alphabetize: true, silent: true });
  return `// Made from the published document: \`./waybell docs\`. Not to be edited.\n${astToString(ast)}`;
}

function leaveActing({ paths = {}, components: { schemas = {} } = {} }: OpenAPI3): void {
  for (const path of Object.keys(paths)) if (path in actingPaths) delete paths[path];
  for (const name of Object.keys(schemas)) if (!(name in adminSchemas)) delete schemas[name];
}

type Operation = { responses: Record<string, unknown> };

/** A path has parameters in addition to its operations. */
function operationsOf({ paths = {} }: OpenAPI3): Operation[] {
  const members = Object.values(paths).flatMap((path): unknown[] => Object.values(path));
  return members.filter((each): each is Operation => typeof each === 'object' && each !== null && 'responses' in each);
}
