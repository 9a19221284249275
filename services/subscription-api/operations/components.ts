import { problemAnswer } from './answers.ts';
import type { JsonNode } from './json-node.ts';
import { problem } from './problem-schema.ts';
import { componentsIn } from './schema.ts';

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

export const commonSchemas: Record<string, JsonNode> = componentsIn([problem], []);
