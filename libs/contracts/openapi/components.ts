import type { Action, Interface } from '@waybell/catalog/action';
import { spelledOut } from '@waybell/catalog/audit-fields';
import { problemAnswer } from './answers.ts';
import type { JsonNode } from './json-node.ts';

const timestamp = {
  type: 'string',
  pattern: String.raw`^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}\+0000$`,
  examples: ['2026-11-20T09:30:00.123+0000'],
};

const problem = {
  type: 'object',
  description: 'An error, as RFC 9457 says. Tell kinds apart by `type`; texts may change.',
  required: ['type', 'title', 'status', 'detail', 'instance'],
  properties: {
    type: { type: 'string', format: 'uri' },
    title: { type: 'string' },
    status: { type: 'integer' },
    detail: { type: 'string', description: 'What is wrong with this request, for people.' },
    instance: { type: 'string', format: 'uuid', description: 'The id of the request: name it when you ask for help.' },
    errors: {
      type: 'array',
      description: 'With 422: every rule that the body, or the parameters, break.',
      items: {
        type: 'object',
        required: ['detail'],
        properties: {
          pointer: { type: 'string', description: 'Where in the body, a JSON Pointer as a URI fragment.' },
          parameter: { type: 'string', description: 'Which parameter of the path or the query.' },
          detail: { type: 'string' },
        },
      },
    },
  },
};

export const headers: JsonNode = {
  RequestId: {
    description: 'Identifies the request; an error has it as `instance`.',
    required: true,
    schema: { type: 'string', format: 'uuid' },
  },
  Deprecation: {
    description: 'Only where the action is deprecated: since when, as RFC 9745 says.',
    schema: { type: 'string', pattern: String.raw`^@\d+$` },
  },
  Sunset: {
    description: 'Only where the action is deprecated: until when, as RFC 8594 says.',
    schema: { type: 'string' },
  },
  Allow: { description: 'The methods that the path has.', required: true, schema: { type: 'string' } },
  RetryAfter: {
    description: 'Seconds after which to ask again.',
    required: true,
    schema: { type: 'string', pattern: String.raw`^\d+$` },
  },
  RateLimit: {
    description: 'What is left of the requests of the token (`r`), and in how many seconds that ends (`t`).',
    schema: { type: 'string', pattern: String.raw`^"[^"]+"; r=\d+; t=\d+$` },
  },
  RateLimitPolicy: {
    description: 'How many requests a token has (`q`) in how many seconds (`w`).',
    schema: { type: 'string', pattern: String.raw`^"[^"]+"; q=\d+; w=\d+; pk=:[^:]+:$` },
  },
  ETag: { description: 'Changes with the document.', required: true, schema: { type: 'string' } },
  CacheControl: { description: 'How long it may be kept.', required: true, schema: { type: 'string' } },
};

/** The answer to a request without an operation. */
export const answers: JsonNode = {
  UnknownPath: problemAnswer(['unknown-path']),
  MethodNotAllowed: problemAnswer(['method-not-allowed']),
  MalformedRequest: problemAnswer(['malformed-request']),
  RequestTimeout: problemAnswer(['request-timeout']),
  HeadersTooLarge: problemAnswer(['headers-too-large']),
};

export const securitySchemes: JsonNode = {
  accessToken: {
    type: 'http',
    scheme: 'bearer',
    description:
      'An access token of an account of the interface, opaque or, where the deployment takes them, a JWT (RFC 9068), with scopes: `webhooks:read` to see, `webhooks:write` to change and to be shown verification tokens.',
  },
};

export const callbackUrl = {
  type: 'string',
  format: 'uri',
  maxLength: 2_048,
  examples: ['https://receiver.example.com/waybell'],
  description:
    'Where notifications are sent: an absolute https URL (http too where the deployment allows it), without user info and fragment, whose host is not, and does not resolve only to, a private or reserved address.',
};
const verificationToken = {
  type: 'string',
  description: 'Sent with every notification as `X-Service-Verification-Token`. Shown to tokens with `webhooks:write`.',
  examples: ['0hZ5cVtXn7Qm2bRk9sLwYp4uJf6aGdE1oTiHxC3vKqM'],
};
const isActive = { type: 'boolean', description: 'False once it is ended or was switched off.' };

/** The schemas that the operations of one interface use. */
export function interfaceSchemas(interfaceName: Interface, catalog: readonly Action[]): Record<string, JsonNode> {
  const names = catalog.filter((action) => action.interface === interfaceName).map(({ name }) => name);
  return interfaceName === 'shipper' ? shipperSchemas(names, catalog) : carrierSchemas(names);
}

export const commonSchemas: Record<string, JsonNode> = { Problem: problem };

/** The body of a request to subscribe, as every action takes it. What names an `audit_field_set` may hold differs from one action to another. */
export const subscribeRequests: Record<Interface, JsonNode> = {
  shipper: subscribeRequest({ callback_url: callbackUrl, audit_field_set: { type: ['array', 'null'] } }),
  carrier: subscribeRequest({ callback_url: callbackUrl }),
};

function subscribeRequest(properties: JsonNode): JsonNode {
  return { type: 'object', required: ['callback_url'], properties, additionalProperties: false };
}

function shipperSchemas(names: readonly string[], catalog: readonly Action[]): Record<string, JsonNode> {
  const action = { $ref: '#/components/schemas/ShipperActionName' };
  const auditFieldSet = auditFieldSetSchema(catalog);
  return {
    ShipperActionName: { type: 'string', enum: names },
    ShipperAction: {
      type: 'object',
      required: ['action', 'description'],
      properties: {
        action,
        description: { type: 'string', description: 'Completes the sentence "sent when …".' },
        audit_fields: {
          type: 'array',
          items: { type: 'string' },
          description: 'The names that `audit_field_set` may hold; absent where the action has no revision form.',
        },
      },
    },
    ShipperSubscribeRequest: subscribeRequest({ callback_url: callbackUrl, audit_field_set: auditFieldSet }),
    ShipperSubscription: {
      type: 'object',
      required: ['is_active', 'created_at', 'changed_at', 'action', 'callback_url', 'guid'],
      properties: {
        is_active: isActive,
        created_at: timestamp,
        changed_at: timestamp,
        action,
        verification_token: verificationToken,
        callback_url: { type: 'string', examples: callbackUrl.examples },
        guid: { type: 'string', format: 'uuid' },
        audit_field_set: {
          ...auditFieldSet,
          type: 'array',
          description: 'As subscribed with; absent where it was omitted.',
        },
      },
    },
  };
}

function auditFieldSetSchema(catalog: readonly Action[]): JsonNode {
  const taking = Map.groupBy(
    catalog.filter(({ auditFields }) => auditFields !== undefined),
    ({ auditFields }) => auditFields,
  );
  const forms = [...taking].map(([fields, actions]) => ({
    title: `for ${actions.map(({ name }) => name).join(', ')}`,
    items: { enum: spelledOut(fields ?? []) },
  }));
  return {
    type: ['array', 'null'],
    description:
      'Only for the revision actions. Given, even empty, notifications carry old and new values of these fields; omitted, they have the plain form. On other actions an empty one, or null, counts as omitted.',
    uniqueItems: true,
    anyOf: forms,
  };
}

function carrierSchemas(names: readonly string[]): Record<string, JsonNode> {
  const action = { $ref: '#/components/schemas/CarrierActionName' };
  return {
    CarrierActionName: { type: 'string', enum: names },
    CarrierAction: {
      type: 'object',
      required: ['action', 'description'],
      properties: {
        action,
        description: { type: 'string', description: 'Completes the sentence "sent when …".' },
      },
    },
    CarrierSubscribeRequest: subscribeRequests.carrier,
    CarrierSubscription: {
      type: 'object',
      required: ['is_active', 'action', 'callback_url'],
      properties: {
        is_active: isActive,
        action,
        verification_token: verificationToken,
        callback_url: { type: 'string', examples: callbackUrl.examples },
      },
    },
  };
}
