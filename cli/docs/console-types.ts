import type { OpenAPI3 } from 'openapi-typescript';
import { actions } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/subscription-api/operations/openapi-documents';
import { PLACE_OF_CLIENT } from '@waybell/subscription-api/operations/acting';
import { problem } from '@waybell/subscription-api/operations/answers';
import { componentsIn } from '@waybell/subscription-api/operations/schema';
import { operatorOperations } from '@waybell/subscription-api/operations/tables';
import type { Generated } from './make-files.ts';

/** The types by which the console asks, of each interface: they are those of the published documents. */
export function consoleTypes(): Record<string, Generated> {
  const published = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples: {} });
  return {
    'apps/console/src/api/client-api.d.ts': typesOf(published['openapi.json']),
    'apps/console/src/api/operator-api.d.ts': typesOf(adminDocumentFiles(actions)['admin-openapi.json'], 'own'),
  };
}

/**
 * Without what receivers are sent and without refusals, which all are problems: they are most of the document, and the console reads neither
 * by its type. `own`: nor what operators ask for a client, which the console asks by the client's types.
 */
function typesOf(text: string | undefined, which: 'all' | 'own' = 'all'): Generated {
  const document = JSON.parse(text ?? '') as OpenAPI3 & { webhooks?: unknown };
  delete document.webhooks;
  if (which === 'own') leaveActing(document);
  const schemas = document.components?.schemas ?? {};
  for (const name of Object.keys(schemas)) if (name.startsWith('notification.')) delete schemas[name];
  for (const { responses } of operationsOf(document)) {
    for (const status of Object.keys(responses)) if (!status.startsWith('2')) delete responses[status];
  }
  return { madeFrom: document, make: () => codeOf(document) };
}

async function codeOf(document: OpenAPI3): Promise<string> {
  // It takes longer to load than to find that nothing changed.
  const { default: openapiTypes, astToString } = await import('openapi-typescript');
  const ast = await openapiTypes(document, { alphabetize: true, silent: true });
  return `// Made from the published document: \`./waybell docs\`. Not to be edited.\n${astToString(ast)}`;
}

function leaveActing({ paths = {}, components: { schemas = {} } = {} }: OpenAPI3): void {
  for (const path of Object.keys(paths)) if (path.startsWith(PLACE_OF_CLIENT)) delete paths[path];
  const own = componentsIn([problem, operatorOperations], actions);
  for (const name of Object.keys(schemas)) if (!(name in own)) delete schemas[name];
}

type AnsweredOperation = { responses: Record<string, unknown> };

/** A path has parameters in addition to its operations. */
function operationsOf({ paths = {} }: OpenAPI3): AnsweredOperation[] {
  const members = Object.values(paths).flatMap((path): unknown[] => Object.values(path));
  return members.filter(
    (each): each is AnsweredOperation => typeof each === 'object' && each !== null && 'responses' in each,
  );
}
