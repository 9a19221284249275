/** Documents that need no token: the contracts, the pages that show them, and the source networks of callbacks. */
import { problemAnswers } from './answers.ts';
import { exactly, headerRef, jsonOf, object, schemaRef, text, type JsonNode } from './json-node.ts';

const headers = {
  'x-request-id': headerRef('RequestId'),
  etag: headerRef('ETag'),
  'cache-control': headerRef('CacheControl'),
};

type DocumentPath = { operationId: string; summary: string; content: JsonNode };

export function documentPath({ operationId, summary, content }: DocumentPath, more: JsonNode = {}): JsonNode {
  return {
    get: {
      tags: ['Documents'],
      operationId,
      summary,
      security: [],
      responses: {
        200: { description: 'The document.', headers, content },
        304: { description: 'It is still what `If-None-Match` names.', headers },
        ...problemAnswers([]),
        ...more,
      },
    },
  };
}

/** The root leads to where readers begin. */
export function rootPath(overview: string): JsonNode {
  const location = { required: true, schema: { const: overview } };
  return {
    get: {
      tags: ['Documents'],
      operationId: 'getRoot',
      summary: 'Find this document',
      security: [],
      responses: {
        303: { description: 'It is there.', headers: { 'x-request-id': headerRef('RequestId'), location } },
        ...problemAnswers([]),
      },
    },
  };
}

const fileInPath = { name: 'file', in: 'path', required: true, schema: { type: 'string' } };
const notThere = problemAnswers([], ['unknown-path', 'malformed-request']);

/** The documents about the interfaces, which need no token. */
export const documentPaths: Readonly<Record<string, JsonNode>> = {
  '/openapi.json': documentPath({
    operationId: 'getOpenApi',
    summary: 'This document',
    content: jsonOf({ type: 'object', required: ['openapi'] }),
  }),
  '/openapi/{file}': {
    parameters: [{ ...fileInPath, examples: { carrier: { value: 'carrier.json' } } }],
    ...documentPath(
      {
        operationId: 'getClientOpenApi',
        summary: 'The operations of one interface, for generators of clients',
        content: jsonOf({ type: 'object', required: ['openapi'] }),
      },
      notThere,
    ),
  },
  '/asyncapi.json': documentPath({
    operationId: 'getAsyncApi',
    summary: 'The events that upstream publishes, as AsyncAPI 3.0',
    content: jsonOf({ type: 'object', required: ['asyncapi'] }),
  }),
  '/schemas/{file}': {
    parameters: [{ ...fileInPath, examples: { event: { value: 'shipper.order.created.event.json' } } }],
    ...documentPath(
      {
        operationId: 'getSchema',
        summary: 'JSON Schemas of events and notifications',
        content: { 'application/schema+json': { schema: { type: 'object', required: ['$schema'] } } },
      },
      notThere,
    ),
  },
  '/': rootPath('docs'),
  '/docs': documentPath(
    {
      operationId: 'getPage',
      summary: 'This document as a page',
      content: { 'text/html': { schema: { type: 'string' } } },
    },
    {
      308: {
        description: 'With a trailing slash: the page is without.',
        headers: { location: { required: true, schema: { const: '../docs' } } },
      },
    },
  ),
  '/docs/{file}': {
    parameters: [{ ...fileInPath, examples: { style: { value: 'swagger-ui.css' } } }],
    ...documentPath(
      {
        operationId: 'getPageFile',
        summary: 'What the page is made of',
        content: { 'text/css': { schema: { type: 'string' } }, 'text/javascript': { schema: { type: 'string' } } },
      },
      notThere,
    ),
  },
};

const names = (description: string, example: string): JsonNode => ({
  type: 'array',
  description,
  items: { ...text, examples: [example] },
});

const milliseconds: JsonNode = { type: 'integer', minimum: 1 };

const limits = object(['handover_ms', 'response_ms'], {
  handover_ms: {
    ...milliseconds,
    type: ['integer', 'null'],
    description: 'From the start until connected and handed over; null: as for the status line.',
  },
  response_ms: { ...milliseconds, description: 'From the start until the status line.' },
});

const sourceNetworks = {
  networks: {
    ...names(
      'Addresses from which callbacks come, in CIDR form. Null: the operator tells none, ask.',
      '203.0.113.0/28',
    ),
    type: ['array', 'null'],
  },
  user_agent: { ...text, description: 'Its number changes with each version.', examples: ['Waybell/0.3.0'] },
  method: { const: 'POST' },
  schemes: { type: 'array', description: 'Of callback URLs.', items: { enum: ['https', 'http'] } },
  denied_ports: names('Ports, and ranges of ports, that callbacks never go to. The usual one is 443.', '1-79'),
  least_tls: { ...text, description: 'The oldest version of TLS that is spoken.', examples: ['1.2'] },
  largest_body_bytes: { type: 'integer', minimum: 1, description: 'No body of a callback has more.' },
  follows_redirects: { const: false },
  headers: names('Headers of a callback, in lower case; some are on some alone.', 'webhook-signature'),
  signature: object(['standard', 'version', 'algorithm'], {
    standard: { ...text, format: 'uri' },
    version: { ...text, examples: ['v1'] },
    algorithm: { ...text, examples: ['HMAC-SHA256'] },
  }),
  authentication: {
    type: 'array',
    description: 'What clients may put in for a host that asks for it.',
    items: { enum: ['headers', 'basic', 'oauth2', 'certificate'] },
  },
  limits: {
    type: 'object',
    description: 'Of requests to receivers, for each interface served.',
    properties: { shipper: limits, carrier: limits },
  },
};

export const sourceNetworkSchemas: Record<string, JsonNode> = {
  SourceNetworks: exactly(sourceNetworks),
};

/** For security teams of receivers; needs no token. */
export const sourceNetworkPaths: Readonly<Record<string, JsonNode>> = {
  '/v1/source-networks': documentPath({
    operationId: 'getSourceNetworks',
    summary: 'See from where callbacks come, and what a firewall has to let through',
    content: jsonOf(schemaRef('SourceNetworks')),
  }),
  '/docs/source-networks': documentPath(
    {
      operationId: 'getSourceNetworksPage',
      summary: 'The same as a page, for those who keep a firewall',
      content: { 'text/html': { schema: text } },
    },
    {
      308: {
        description: 'With a trailing slash: the page is without.',
        headers: { location: { required: true, schema: { const: '../source-networks' } } },
      },
    },
  ),
};
