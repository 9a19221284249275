import { problemAnswers } from './answers.ts';
import { headerRef, type JsonNode } from './json-node.ts';

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

const json = (schema: JsonNode) => ({ 'application/json': { schema } });
const file = { name: 'file', in: 'path', required: true, schema: { type: 'string' } };
const notThere = problemAnswers([], ['unknown-path', 'malformed-request']);

/** The documents about the interfaces, which need no token. */
export const documentPaths: Readonly<Record<string, JsonNode>> = {
  '/openapi.json': documentPath({
    operationId: 'getOpenApi',
    summary: 'This document',
    content: json({ type: 'object', required: ['openapi'] }),
  }),
  '/asyncapi.json': documentPath({
    operationId: 'getAsyncApi',
    summary: 'The events that upstream publishes, as AsyncAPI 3.0',
    content: json({ type: 'object', required: ['asyncapi'] }),
  }),
  '/schemas/{file}': {
    parameters: [{ ...file, examples: { event: { value: 'shipper.order.created.event.json' } } }],
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
    parameters: [{ ...file, examples: { style: { value: 'swagger-ui.css' } } }],
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
