import type { Action } from '@waybell/catalog/action';
import { actingSchemas, actingTag } from './acting-paths.ts';
import { adminLineSchemas } from './admin-line-paths.ts';
import { adminLogSchemas } from './admin-log-schemas.ts';
import { adminOverviewSchemas } from './admin-overview-paths.ts';
import { adminPaths } from './admin-paths.ts';
import { adminStopSchemas } from './admin-stop-paths.ts';
import { answers, commonSchemas, headers } from './components.ts';
import { count, type JsonNode } from './json-node.ts';

const description = `What \`./waybell account\`, \`token\`, \`why\`, \`failing\`, \`waiting list\`, \`subscription stop\`, \`host\`, \`audit\` and \`rejected\` do, over HTTP. It listens on a port of its own (\`ADMIN_PORT\`), which is off unless it
is set and is not for strangers. Its access tokens are opaque and have the scope \`admin\`; the first one is made by
\`./waybell token create --scope admin\`. Bodies, errors and limits are as on the interfaces for accounts. The audit log names the token for each change.`;

const account: JsonNode = {
  type: 'object',
  required: ['guid', 'interface', 'name', 'features', 'closed_at'],
  properties: {
    guid: { type: 'string', format: 'uuid', description: 'By which events name it.' },
    interface: { enum: ['shipper', 'carrier'] },
    name: { type: ['string', 'null'], description: 'What people call it.', examples: ['Acme'] },
    features: { type: 'array', items: { $ref: '#/components/schemas/Feature' } },
    closed_at: { type: ['string', 'null'], format: 'date-time', description: 'Null: it is open.' },
  },
};

const goingOn: JsonNode = {
  type: 'object',
  required: ['account_guid', 'client_id', 'subscriptions', 'subscriptions_of_account'],
  properties: {
    account_guid: { type: 'string', format: 'uuid' },
    client_id: { $ref: '#/components/schemas/ClientId' },
    subscriptions: { type: 'integer', minimum: 0, description: 'Of the client.' },
    subscriptions_of_account: {
      type: 'integer',
      minimum: 0,
      description: 'Of the account, where it has no access token any more; else 0. JWTs are not known.',
    },
  },
};

const moment: JsonNode = { type: ['string', 'null'], format: 'date-time' };

const token: JsonNode = {
  type: 'object',
  required: ['guid', 'client_id', 'scopes', 'created_at', 'expires_at', 'revoked_at', 'last_used_at', 'console_link'],
  properties: {
    guid: { type: 'string', format: 'uuid' },
    client_id: { $ref: '#/components/schemas/ClientId' },
    scopes: { $ref: '#/components/schemas/Scopes' },
    created_at: { type: 'string', format: 'date-time' },
    expires_at: { ...moment, description: 'Null: it holds until it is revoked.' },
    revoked_at: moment,
    last_used_at: { ...moment, description: 'To the minute; null: never.' },
    console_link: {
      enum: ['unopened', 'opened', null],
      description: 'Of the token of a link to the console, which is none until that is opened; else null.',
    },
  },
};

const CLOSED_WITH = [
  'subscriptions',
  'waiting',
  'tokens',
  'console_links',
  'credentials',
  'signing_secrets',
  'listeners',
];

const accountClient: JsonNode = {
  type: 'object',
  required: ['client_id', 'subscriptions', 'switched_off', 'tokens', 'token_last_used_at'],
  properties: {
    client_id: { $ref: '#/components/schemas/ClientId' },
    subscriptions: { ...count, description: 'Current ones.' },
    switched_off: { ...count, description: 'Of these, switched off.' },
    tokens: { ...count, description: 'Access tokens that hold; JWTs are not among them.' },
    token_last_used_at: { ...moment, description: 'Of any of them, to the minute; null: never.' },
  },
};

const accountClosing: JsonNode = {
  type: 'object',
  required: ['account', ...CLOSED_WITH],
  properties: {
    account: { $ref: '#/components/schemas/Account' },
    ...Object.fromEntries(CLOSED_WITH.map((name) => [name, count])),
    waiting: { ...count, description: 'Deliveries that wait for them in the database, counted up to 10,000.' },
    console_links: { ...count, description: 'Links that can be opened, and sign-ins by others.' },
  },
};

/** Schemas of the operators' requests and answers. */
export const adminSchemas: Record<string, JsonNode> = {
  ...commonSchemas,
  Feature: { type: 'string', enum: ['insurance', 'servicepay'] },
  ClientId: {
    type: 'string',
    pattern: String.raw`^[\x21-\x7e]{1,200}$`,
    description: '1 to 200 visible ASCII characters',
    examples: ['tms'],
  },
  Duration: {
    type: 'string',
    pattern: String.raw`^\s*\d+(\.\d+)?(ms|s|m|h|d)\s*$`,
    description: 'a number and a unit, such as 250ms, 4s, 1m, 24h or 90d',
    examples: ['90d'],
  },
  Scopes: { type: 'array', minItems: 1, items: { type: 'string', enum: ['webhooks:read', 'webhooks:write', 'admin'] } },
  Account: account,
  AccountClient: accountClient,
  AccountClosing: accountClosing,
  GoingOn: goingOn,
  AccessToken: token,
  ...adminLogSchemas,
  ...adminLineSchemas,
  ...adminStopSchemas,
  ...adminOverviewSchemas,
};

/** The OpenAPI 3.1 document of the operators' interface. */
export function adminDocument({ version, catalog }: { version: string; catalog: readonly Action[] }): JsonNode {
  return {
    openapi: '3.1.1',
    info: {
      title: 'Waybell for operators',
      version,
      summary: 'Accounts, the delivery log and the line, for operators',
      description,
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
    paths: adminPaths,
    components: {
      schemas: { ...actingSchemas(catalog), ...adminSchemas },
      headers,
      responses: answers,
      securitySchemes: {
        accessToken: { type: 'http', scheme: 'bearer', description: 'An opaque access token with the scope `admin`.' },
      },
    },
  };
}
