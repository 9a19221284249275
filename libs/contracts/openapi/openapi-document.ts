import type { Action, Interface } from '@waybell/catalog/action';
import type { SentExamples } from '../sent-examples.ts';
import { carrierPaths } from './carrier-paths.ts';
import { answers, commonSchemas, headers, interfaceSchemas, securitySchemes } from './components.ts';
import { documentPaths } from './document-paths.ts';
import type { JsonNode } from './json-node.ts';
import { shipperPaths } from './shipper-paths.ts';
import { notificationSchemas, webhooks } from './webhooks.ts';

export type OpenApiOptions = {
  catalog: readonly Action[];
  /** Those that are served. */
  interfaces: readonly Interface[];
  sentExamples: SentExamples;
  version: string;
};

const PATHS: Record<Interface, Readonly<Record<string, JsonNode>>> = { shipper: shipperPaths, carrier: carrierPaths };

const TAGS: Record<Interface, JsonNode> = {
  shipper: { name: 'Shipper interface', description: 'For shippers and brokers.' },
  carrier: { name: 'Carrier interface', description: 'For carriers.' },
};

const description = `Subscribe to actions of the platform with a callback URL, and get an HTTP request each time one happens.

- **Paths** answer with and without a trailing slash, and are case-sensitive. HEAD answers as GET does, without a body; OPTIONS
  answers 204 and names the methods in \`Allow\`, any other method 405.
- **Bodies** are JSON in UTF-8 of at most 64 KiB, \`Content-Type: application/json; charset=utf-8\`; gzip is understood. A member
  that is not named here is an error.
- **Errors** are problems as RFC 9457 says. \`instance\` is the id of the request, as the header \`x-request-id\`.
- **Notifications** are under "webhooks", one for each action, with examples as really sent. They are sent at least once, in no
  promised order; \`webhook-id\` tells duplicates.

JSON Schemas of every action: \`/schemas/<interface>.<action>.event.json\` and \`/schemas/<interface>.<action>.notification.json\`.
What upstream publishes: \`/asyncapi.json\`.`;

/** The OpenAPI 3.1 document of the interfaces named: their endpoints, and the notifications of their actions. */
export function openApiDocument({ interfaces, sentExamples, version, ...options }: OpenApiOptions): JsonNode {
  const catalog = options.catalog.filter((action) => interfaces.includes(action.interface));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybell',
      version,
      summary: 'Webhook notifications for freight platforms',
      description,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'Where this document is.' }],
    tags: [...interfaces.map((name) => TAGS[name]), { name: 'Documents', description: 'They need no token.' }],
    paths: { ...Object.assign({}, ...interfaces.map((name) => PATHS[name])), ...documentPaths },
    webhooks: webhooks(catalog, sentExamples),
    components: {
      schemas: {
        ...commonSchemas,
        ...Object.assign({}, ...interfaces.map((name) => interfaceSchemas(name, catalog))),
        ...notificationSchemas(catalog),
      },
      headers,
      responses: answers,
      securitySchemes,
    },
  };
}
