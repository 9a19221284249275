import { actions } from '@waybell/catalog/actions';
import { adminDocumentFiles, documentFiles } from '@waybell/contracts/document-files';
import openapiTypes, { astToString, type OpenAPI3 } from 'openapi-typescript';
import type { SentExamples } from '@waybell/contracts/sent-examples';

/** The types by which the console asks, of each interface: they are those of the published documents. */
export function consoleTypes(sentExamples: SentExamples): Record<string, () => Promise<string>> {
  const published = documentFiles({ catalog: actions, interfaces: ['shipper', 'carrier'], sentExamples });
  return {
    'apps/console/src/api/client-api.d.ts': () => typesOf(published['openapi.json']),
    'apps/console/src/api/operator-api.d.ts': () => typesOf(adminDocumentFiles()['admin-openapi.json']),
  };
}

/** What receivers are sent is not among what the console asks, and is most of the document. */
async function typesOf(text: string | undefined): Promise<string> {
  const document = JSON.parse(text ?? '') as OpenAPI3 & { webhooks?: unknown };
  delete document.webhooks;
  const schemas = document.components?.schemas ?? {};
  for (const name of Object.keys(schemas)) if (name.startsWith('notification.')) delete schemas[name];
  const ast = await openapiTypes(document, { alphabetize: true, silent: true });
  return `// Made from the published document: \`./waybell docs\`. Not to be edited.\n${astToString(ast)}`;
}
