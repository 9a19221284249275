/** Documents that need no token: the contracts, the pages that show them, and the source networks of callbacks. */
import { SourceNetworks } from '../rest/documents/source-networks.ts';
import { headerRef, jsonOf } from './answers.ts';
import { operationsOf, sent, type Operation, type PathParameter } from './operation.ts';
import { only, text, type JsonNode } from './schema.ts';
import type { DocumentServices } from './services.ts';

const headers = { etag: headerRef('ETag'), 'cache-control': headerRef('CacheControl') };
const location = (place: string) => ({ location: { required: true, schema: only(place) } });

const operation = operationsOf<DocumentServices>();

type DocumentOperation = Pick<Operation, 'path' | 'id' | 'summary' | 'problems'> & {
  content: JsonNode;
  /** Place of the document, for a client that asks with a slash at the end of the path. */
  withoutSlash?: string;
  parameters?: Record<string, PathParameter>;
};

const document = ({ content, withoutSlash, parameters = {}, ...told }: DocumentOperation) =>
  operation({
    ...told,
    method: 'get',
    tag: 'Documents',
    scope: null,
    parameters,
    answers: {
      200: sent('The document.', content, headers),
      304: sent('It is still what `If-None-Match` names.', {}, headers),
      ...(withoutSlash !== undefined && {
        308: sent('With a trailing slash: the page is without.', {}, location(withoutSlash)),
      }),
    },
    handle: ({ request, response, services: { documents } }) => documents.send(request, response),
  });

/** The root leads to where readers begin. */
const root = (overview: string) =>
  operation({
    method: 'get',
    path: '/',
    id: 'getRoot',
    tag: 'Documents',
    summary: 'Find this document',
    scope: null,
    answers: { 303: sent('It is there.', {}, location(overview)) },
    // Relative, as a proxy may show the API under a path of its own.
    handle: ({ response }) => void response.status(303).set('location', overview).end(),
  });

/** One of several documents. */
const file = (examples: JsonNode) =>
  ({
    parameters: { file: { schema: text(), examples, read: (name: string) => name } },
    problems: ['unknown-path', 'malformed-request'],
  }) satisfies Partial<DocumentOperation>;

const ofKind = (version: string) => jsonOf({ type: 'object', required: [version] });
const html = { 'text/html': { schema: text() } };

export const documentOperations = [
  document({ path: '/openapi.json', id: 'getOpenApi', summary: 'This document', content: ofKind('openapi') }),

  document({
    ...file({ carrier: { value: 'carrier.json' } }),
    path: '/openapi/{file}',
    id: 'getClientOpenApi',
    summary: 'The operations of one interface, for generators of clients',
    content: ofKind('openapi'),
  }),

  document({
    path: '/asyncapi.json',
    id: 'getAsyncApi',
    summary: 'The events that upstream publishes, as AsyncAPI 3.0',
    content: ofKind('asyncapi'),
  }),

  document({
    ...file({ event: { value: 'shipper.order.created.event.json' } }),
    path: '/schemas/{file}',
    id: 'getSchema',
    summary: 'JSON Schemas of events and notifications',
    content: { 'application/schema+json': { schema: { type: 'object', required: ['$schema'] } } },
  }),

  root('docs'),

  document({
    path: '/docs',
    id: 'getPage',
    summary: 'This document as a page',
    content: html,
    withoutSlash: '../docs',
  }),

  document({
    ...file({ style: { value: 'page.css' } }),
    path: '/docs/{file}',
    id: 'getPageFile',
    summary: 'What the page is made of',
    content: { 'text/css': { schema: text() }, 'text/javascript': { schema: text() } },
  }),

  document({
    path: '/v1/source-networks',
    id: 'getSourceNetworks',
    summary: 'See from where callbacks come, and what a firewall has to let through',
    content: jsonOf(SourceNetworks),
  }),

  document({
    path: '/docs/source-networks',
    id: 'getSourceNetworksPage',
    summary: 'The same as a page, for those who keep a firewall',
    content: html,
    withoutSlash: '../source-networks',
  }),
];

export const operatorRoot = root('admin-openapi.json');

export const operatorDocument = document({
  path: '/admin-openapi.json',
  id: 'getAdminOpenApi',
  summary: 'This document',
  content: ofKind('openapi'),
});
