/** The OpenAPI documents: of clients' interfaces, of each of them for generators of clients, and of operators; and all contracts as files. */
import type { Action, Interface } from '@waybell/catalog/action';
import { asyncApiDocument } from '@waybell/contracts/asyncapi-document';
import { schemaDocuments } from '@waybell/contracts/schema-documents';
import type { SentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';
import { actingTag, asOperatorsAsk } from './acting.ts';
import { answers, headers, problem, securitySchemes } from './answers.ts';
import { pathsOf } from './openapi.ts';
import { componentsIn, type JsonNode } from './schema.ts';
import { actingOperations, clientOperations, operatorOperations } from './tables.ts';
import { notificationSchemas, webhooks } from './webhooks.ts';

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

type OpenApiOptions = {
  catalog: readonly Action[];
  /** The interfaces that are served. */
  interfaces: readonly Interface[];
  sentExamples: SentExamples;
  version: string;
};

const TAGS: Record<Interface, JsonNode> = {
  shipper: { name: 'Shipper interface', description: 'For shippers and brokers.' },
  carrier: { name: 'Carrier interface', description: 'For carriers.' },
};

/** The OpenAPI 3.1 document of the interfaces named: their endpoints, and the notifications of their actions. */
export function openApiDocument({ interfaces, sentExamples, version, ...options }: OpenApiOptions): JsonNode {
  const catalog = options.catalog.filter((action) => interfaces.includes(action.interface));
  const operations = clientOperations(interfaces);
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
    paths: pathsOf(operations, { interfaces, catalog }),
    webhooks: webhooks(catalog, sentExamples),
    components: {
      schemas: {
        ...componentsIn([problem, operations], catalog),
        ...notificationSchemas(catalog),
      },
      headers,
      responses: answers,
      securitySchemes,
    },
  };
}

/** The introduction of the document, and of the page that shows it. */
function describe(interfaces: readonly Interface[]): string {
  return [SUMMARY, quickStart(interfaces), rules].join('\n\n');
}

const SUMMARY =
  'Subscribe to actions of the platform with a callback URL, and get an HTTP request each time one happens.';

const SUBSCRIBE: Record<Interface, string> = {
  shipper: '/v1/public/webhooks/order.picked_up/subscribe',
  carrier: '/v1/webhooks/order.picked_up/subscriptions/',
};

const RETRIED: Record<Interface, string> = {
  shipper:
    'To shippers and brokers, what fails or takes 60 seconds is sent again after 60 seconds, five times at most.',
  carrier:
    'To carriers, what fails or takes 3 seconds is sent again after 1, 2 and 4 seconds; then the subscription is switched off.',
};

/** How to begin. */
const quickStart = (interfaces: readonly Interface[]) => `## Quick start

1. **Authenticate**: every request has the header \`Authorization: Bearer <access token>\`. The operator of the platform gives you a token of your account.
2. **Subscribe** to an action. The answer has a \`verification_token\`: keep it.
\`\`\`
${interfaces.map((name) => `# ${name}\ncurl "$API_URL${SUBSCRIBE[name]}" -H "Authorization: Bearer $TOKEN" \\\n  --json '{"callback_url": "https://receiver.example.com/waybell"}'`).join('\n')}
\`\`\`
3. **Try it out**: \`POST /v1/subscriptions/{guid}/test\` sends an example now, and answers with what your receiver said. \`GET /v1/subscriptions\` has the guid.
4. **Verify** each notification: \`X-Service-Verification-Token\` is your \`verification_token\`, and \`webhook-signature\` is as
[Standard Webhooks](https://www.standardwebhooks.com) says, by a secret of \`GET /v1/signing-secrets\`. \`webhook-id\` tells duplicates.
5. **Let them in**: [from where they come](docs/source-networks), and what a firewall or a gateway has to let through.
6. **Answer** with a 2xx status before you work on it. ${interfaces.map((name) => RETRIED[name]).join(' ')}
7. **Look up** what did not arrive: \`GET /v1/deliveries\`; \`POST /v1/deliveries/{guid}/resend\` and \`POST /v1/replays\` send it again.

## Rules`;

const rules = `- **Paths** answer with and without a trailing slash, and are case-sensitive. HEAD answers as GET does, without a body; OPTIONS
  answers 204 and names the methods in \`Allow\`, any other method 405.
- **Bodies** are JSON in UTF-8 of at most 64 KiB, \`Content-Type: application/json; charset=utf-8\`; gzip is understood. A member
  that is not named here, or is there twice, is an error.
- **Errors** are problems as RFC 9457 says. \`instance\` is the id of the request, as the header \`x-request-id\`. What is not valid HTTP,
  or does not name one \`Host\`, is answered 400; two \`Authorization\` headers are one token that is malformed.
- **Limits**: each token has a number of requests a minute, which every answer to it tells (\`RateLimit\`), and each address a
  number of tokens that are not valid. Beyond: 429 with \`Retry-After\`. A request line with headers over 16 KiB is answered 431, a
  request that does not come to its end in time 408.
- **Notifications** are under "webhooks", one for each action, with examples as really sent. They are sent at least once, in no
  promised order.

JSON Schemas of every action: \`/schemas/<interface>.<action>.event.json\` and \`/schemas/<interface>.<action>.notification.json\`.
What upstream publishes: \`/asyncapi.json\`.`;

/**
 * Turns the document of one interface into what generators of clients make code of that compiles, and leave nothing out: every operation,
 * and none of what receivers are sent, for which there are JSON Schemas. Tried with openapi-python-client, oapi-codegen and
 * openapi-typescript.
 */
function clientDocument(document: JsonNode): JsonNode {
  // The introduction, which each document has as an object, is of the other one; this one is a folder deeper.
  const info = { ...(document['info'] as object), description: undefined };
  const servers = [{ url: '..', description: 'Where the API is.' }];
  const made: JsonNode = JSON.parse(JSON.stringify({ ...document, info, servers, webhooks: undefined }, forGenerators));
  return made;
}

function forGenerators(key: string, node: unknown): unknown {
  if (key.startsWith('notification.')) return undefined;
  if (typeof node !== 'object' || node === null || Array.isArray(node)) return node;
  // All else in JSON is an object.
  const { $ref, ...own } = node as JsonNode;
  // Nobody makes code of links, or of what is beside a reference: which kinds of problems an answer has.
  if ($ref !== undefined) return { $ref };
  return asOneForm(own) ?? withType('content' in own ? { ...own, links: undefined } : own);
}

/** The single form of an answer: its title told it from that of the other interface. Python leaves some of these out. */
function asOneForm({ oneOf }: JsonNode): JsonNode | undefined {
  if (!Array.isArray(oneOf) || oneOf.length > 1) return undefined;
  // Schemas are objects.
  const [{ title: _, ...form }] = oneOf as [JsonNode];
  return form;
}

/** A choice without a type is `interface{}` in Go; that of one boolean is an operation that Python leaves out. */
function withType(node: JsonNode): JsonNode {
  const [value]: unknown[] = Array.isArray(node['enum']) ? node['enum'] : [node['const']];
  if (typeof value === 'boolean') return { ...node, type: 'boolean', enum: undefined, const: undefined };
  if (typeof value === 'string') return { type: 'string', ...node };
  return typeof value === 'number' ? { type: 'integer', ...node } : node;
}

const ABOUT_OPERATORS = `What \`./waybell account\`, \`token\`, \`why\`, \`failing\`, \`waiting list\`, \`subscription stop\`, \`host\`, \`audit\` and \`rejected\` do, over HTTP. It listens on a port of its own (\`ADMIN_PORT\`), which is off unless it
is set and is not for strangers. Its access tokens are opaque and have the scope \`admin\`; the first one is made by
\`./waybell token create --scope admin\`. Bodies, errors and limits are as on the interfaces for accounts. The audit log names the token for each change.`;

/** The OpenAPI 3.1 document of the operators' interface. */
function adminDocument({ version, catalog }: { version: string; catalog: readonly Action[] }): JsonNode {
  const described = { interfaces: ['shipper', 'carrier'], catalog } as const;
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybell for operators',
      version,
      summary: 'Accounts, the delivery log and the line, for operators',
      description: ABOUT_OPERATORS,
      license: { name: 'MIT', identifier: 'MIT' },
    },
    servers: [{ url: '.', description: 'Where this document is.' }],
    tags: [
      { name: 'Overview' },
      { name: 'Accounts' },
      { name: 'Access tokens' },
      { name: 'Delivery log' },
      { name: 'Stops', description: 'What waits until an operator starts it again.' },
      { name: 'Line' },
      {
        name: actingTag,
        description:
          "What a client may ask and do about its deliveries and subscriptions, by an operator: the paths of [openapi.json](openapi.json) below the place of the client, answered as its interface does. Verification tokens are not shown. Signing secrets, credentials, listeners and triggers are the client's alone.",
      },
      { name: 'Documents', description: 'They need no token.' },
    ],
    paths: { ...pathsOf(operatorOperations, described), ...asOperatorsAsk(pathsOf(actingOperations, described)) },
    components: {
      schemas: componentsIn([problem, operatorOperations, actingOperations], catalog),
      headers,
      responses: answers,
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'An opaque access token with the scope `admin`.' },
      },
    },
  };
}
