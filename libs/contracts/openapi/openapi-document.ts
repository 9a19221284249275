import type { Action, Interface } from '@waybell/catalog/action';
import type { SentExamples } from '../sent-examples.ts';
import { carrierPaths } from './carrier-paths.ts';
import { answers, commonSchemas, headers, interfaceSchemas, securitySchemes } from './components.ts';
import { byHandPaths, byHandSchemas } from './by-hand-paths.ts';
import { credentialsPaths, credentialsSchemas } from './credentials-paths.ts';
import { consoleSessionPaths } from './console-link-paths.ts';
import { describe } from './description.ts';
import { deliveryLogPaths } from './delivery-log-paths.ts';
import { deliveryLogSchemas } from './delivery-log-schemas.ts';
import { documentPaths } from './document-paths.ts';
import type { JsonNode } from './json-node.ts';
import { ownTokenPaths, ownTokenSchemas } from './own-token-paths.ts';
import { listenerPaths, listenerSchemas } from './listener-paths.ts';
import { livePaths, liveSchemas } from './live-paths.ts';
import { missedPaths, missedSchemas } from './missed-paths.ts';
import { signingSecretPaths } from './signing-secret-paths.ts';
import { shipperPaths } from './shipper-paths.ts';
import { sourceNetworkPaths, sourceNetworkSchemas } from './source-network-paths.ts';
import { statisticsPaths, statisticsSchemas } from './statistics-paths.ts';
import { subscriptionPaths, subscriptionSchemas } from './subscription-paths.ts';
import { triggerPaths, triggerSchemas } from './trigger-paths.ts';
import { notificationSchemas, webhooks } from './webhooks.ts';

export type OpenApiOptions = {
  catalog: readonly Action[];
  /** The interfaces that are served. */
  interfaces: readonly Interface[];
  sentExamples: SentExamples;
  version: string;
};

const PATHS: Record<Interface, Readonly<Record<string, JsonNode>>> = { shipper: shipperPaths, carrier: carrierPaths };

const TAGS: Record<Interface, JsonNode> = {
  shipper: { name: 'Shipper interface', description: 'For shippers and brokers.' },
  carrier: { name: 'Carrier interface', description: 'For carriers.' },
};

/** The OpenAPI 3.1 document of the interfaces named: their endpoints, and the notifications of their actions. */
export function openApiDocument({ interfaces, sentExamples, version, ...options }: OpenApiOptions): JsonNode {
  const catalog = options.catalog.filter((action) => interfaces.includes(action.interface));
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybell',
      version,
      summary: 'Webhook notifications for freight platforms',
      description: describe(interfaces),
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'Where this document is.' }],
    tags: [
      ...interfaces.map((name) => TAGS[name]),
      { name: 'Access token', description: 'Whose it is.' },
      { name: 'Subscriptions', description: 'All that a client has, on either interface.' },
      { name: 'Signing secrets', description: 'What the notifications of an account are signed with.' },
      { name: 'Credentials', description: 'What callbacks to a host authenticate with there.' },
      { name: 'Delivery log', description: 'What became of events and notifications, and why: kept for some weeks.' },
      { name: 'Resend and replay', description: 'Sends again what did not arrive, or an example.' },
      { name: 'Listeners', description: 'Callbacks over a stream, for a machine that has no address.' },
      { name: 'Documents', description: 'They need no token.' },
    ],
    paths: {
      ...Object.assign({}, ...interfaces.map((name) => PATHS[name])),
      ...ownTokenPaths(interfaces),
      ...consoleSessionPaths,
      ...subscriptionPaths(interfaces),
      ...signingSecretPaths(interfaces),
      ...credentialsPaths(interfaces),
      ...deliveryLogPaths(interfaces),
      ...livePaths(interfaces),
      ...listenerPaths(interfaces),
      ...statisticsPaths(interfaces),
      ...byHandPaths(interfaces),
      ...missedPaths(interfaces),
      ...triggerPaths(interfaces),
      ...documentPaths,
      ...sourceNetworkPaths,
    },
    webhooks: webhooks(catalog, sentExamples),
    components: {
      schemas: {
        ...commonSchemas,
        ...Object.assign({}, ...interfaces.map((name) => interfaceSchemas(name, catalog))),
        ...ownTokenSchemas,
        ...subscriptionSchemas,
        ...credentialsSchemas,
        ...deliveryLogSchemas,
        ...liveSchemas,
        ...listenerSchemas,
        ...statisticsSchemas,
        ...byHandSchemas,
        ...missedSchemas,
        ...triggerSchemas,
        ...sourceNetworkSchemas,
        ...notificationSchemas(catalog),
      },
      headers,
      responses: answers,
      securitySchemes,
    },
  };
}
