import type { Action, Interface } from '@waybell/catalog/action';
import type { SentExamples } from '@waybell/contracts/sent-examples';
import { pathsOf } from './openapi.ts';
import { componentsIn } from './schema.ts';
import { clientOperations } from './tables.ts';
import { answers, commonSchemas, headers, securitySchemes } from './components.ts';
import { documentPaths, sourceNetworkPaths, sourceNetworkSchemas } from './document-paths.ts';
import type { JsonNode } from './json-node.ts';
import { notificationSchemas, webhooks } from './webhooks.ts';

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
    paths: {
      ...pathsOf(operations, { interfaces, catalog }),
      ...documentPaths,
      ...sourceNetworkPaths,
    },
    webhooks: webhooks(catalog, sentExamples),
    components: {
      schemas: {
        ...commonSchemas,
        ...componentsIn(operations, catalog),
        ...sourceNetworkSchemas,
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
