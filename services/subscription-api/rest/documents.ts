import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Action, Interface } from '@waybell/catalog/action';
import { documentFiles } from '@waybell/contracts/document-files';
import { sentExamples } from '@waybell/contracts/sent-examples';
import { Router, type Response } from 'express';
import { pageFiles, PAGE_POLICY } from './page-files.ts';
import { addPath } from './routes.ts';

type Document = { type: string; bytes: Buffer; etag: string; headers: Record<string, string> };

const CACHED = 'public, max-age=300';

/** Anyone's page may read what is public. */
const SHARED = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

/** The contracts of the interfaces served, and a page to read them by; without a token, and kept in memory. */
export function documentRoutes(options: { interfaces: readonly Interface[]; catalog: readonly Action[] }): Router {
  const router = Router({ caseSensitive: true });
  const documents = makeDocuments(options);

  addPath(router, ['/openapi.json', '/asyncapi.json', '/schemas/:file', '/docs', '/docs/:file'], {
    get(request, response, next) {
      const document = documents.get(request.path.replaceAll(/^\/|\/$/g, ''));
      // What the page loads lies beside it, whatever the path under which a proxy shows the API.
      if (request.path === '/docs/') response.status(308).set('location', '../docs').end();
      else if (document === undefined) next('router');
      else send(document, request, response);
    },
  });
  return router;
}

function send(
  { type, bytes, etag, headers }: Document,
  request: Pick<IncomingMessage, 'headers'>,
  response: Response,
): void {
  response.set({ 'content-type': type, etag, 'cache-control': CACHED, ...headers });
  if (isKept(request.headers['if-none-match'], etag)) response.status(304).end();
  else response.set('content-length', String(bytes.length)).end(bytes);
}

/** Express would not say so of a request with `Cache-Control: no-cache`, which is to ask here, and need not get it again. */
function isKept(ifNoneMatch: string | undefined, etag: string): boolean {
  const kept = (ifNoneMatch ?? '').split(',').map((each) => each.trim().replace(/^W\//, ''));
  return kept.includes(etag) || kept.includes('*');
}

function makeDocuments(options: { interfaces: readonly Interface[]; catalog: readonly Action[] }) {
  const contracts = Object.entries(documentFiles({ ...options, sentExamples })).map(([path, text]) =>
    entry(path, { type: contractType(path), bytes: Buffer.from(text), headers: SHARED }),
  );
  const page = Object.entries(pageFiles()).map(([path, file]) =>
    entry(path, { ...file, headers: { 'content-security-policy': PAGE_POLICY } }),
  );
  return new Map([...contracts, ...page]);
}

function entry(path: string, file: Omit<Document, 'etag'>): [string, Document] {
  return [path, { ...file, etag: `"${hash('sha256', file.bytes).slice(0, 32)}"` }];
}

function contractType(path: string): string {
  return path.startsWith('schemas/') ? 'application/schema+json; charset=utf-8' : 'application/json; charset=utf-8';
}
