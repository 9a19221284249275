import type { Action, Interface } from '@waybell/catalog/action';
import { asyncApiDocument } from '@waybell/contracts/asyncapi-document';
import { adminDocument } from './admin-document.ts';
import { clientDocument } from './client-document.ts';
import { openApiDocument } from './openapi-document.ts';
import { schemaDocuments } from '@waybell/contracts/schema-documents';
import type { SentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';

/** The version of the contracts, not of the packages: raised when a promise changes. */
const VERSION = '1.0.0';

/** Every contract for machines as text, by its path under the root of the API, which is also its path under `docs/`. */
export function documentFiles(options: {
  catalog: readonly Action[];
  interfaces: readonly Interface[];
  sentExamples: SentExamples;
}): Record<string, string> {
  const { catalog } = options;
  const schemas = Object.entries(schemaDocuments(catalog));
  return {
    'openapi.json': writeJson(openApiDocument({ ...options, version: VERSION })),
    'asyncapi.json': writeJson(asyncApiDocument({ catalog, version: VERSION })),
    ...Object.fromEntries(schemas.map(([name, schema]) => [`schemas/${name}`, writeJson(schema)])),
  };
}

/** The document of each interface for generators of clients. They are served and nowhere else: whoever generates has an API to ask. */
export function clientDocumentFiles(
  catalog: readonly Action[],
  interfaces: readonly Interface[],
): Record<string, string> {
  const documentOf = (name: Interface) =>
    clientDocument(openApiDocument({ catalog, interfaces: [name], sentExamples: {}, version: VERSION }));
  return Object.fromEntries(interfaces.map((name) => [`openapi/${name}.json`, writeJson(documentOf(name))]));
}

/** The contract of the operators' interface, which has a port of its own. */
export function adminDocumentFiles(catalog: readonly Action[]): Record<string, string> {
  return { 'admin-openapi.json': writeJson(adminDocument({ catalog, version: VERSION })) };
}
