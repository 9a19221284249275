import { hash } from 'node:crypto';
import type { IncomingMessage } from 'node:http';
import type { Action, Interface } from '@waybell/catalog/action';
import { adminDocumentFiles, documentFiles } from '@waybell/contracts/document-files';
import { sentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';
import { Router, type Response } from 'express';
import { pageFiles } from './page-files.ts';
import { pagePolicy } from './page-policy.ts';
import { sourceNetworksHtml } from './source-networks-page.ts';
import type { SourceNetworks } from './source-networks.ts';
import { addPath } from '../http/routes.ts';

type Document = { type: string; bytes: Buffer; etag: string; headers: Record<string, string> };

const CACHED = 'public, max-age=300';
const HTML = 'text/html; charset=utf-8';

/** Anyone's page may read what is public. */
const SHARED = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

/** The one that others are found by, the paths of routes, and what is there by its path. */
export type Documents = { overview: string; routes: string[]; files: ReadonlyMap<string, Document> };

/** Serves documents without a token. */
export function documentRoutes({ overview, routes, files }: Documents): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/'], {
    // Relative, as a proxy may show the API under a path of its own.
    get: (_request, response) => void response.status(303).set('location', overview).end(),
  });
  addPath(router, routes, {
    get(request, response, next) {
      const document = files.get(request.path.replaceAll(/^\/|\/$/g, ''));
      // What the page loads lies beside it, whatever the path under which a proxy shows the API.
      if (document?.type === HTML && request.path.endsWith('/'))
        response
          .status(308)
          .set('location', `../${request.path.split('/').at(-2)}`)
          .end();
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

type PublicOptions = {
  interfaces: readonly Interface[];
  catalog: readonly Action[];
  sourceNetworks: SourceNetworks;
};

/** The contracts of the interfaces served, what holds of their callbacks, and pages to read both by; kept in memory. */
export function publicDocuments({ sourceNetworks, ...options }: PublicOptions): Documents {
  const pages = { ...pageFiles(), 'docs/source-networks': html(sourceNetworksHtml(sourceNetworks)) };
  const page = Object.entries(pages).map(([path, file]) =>
    entry(path, { ...file, headers: { 'content-security-policy': pagePolicy() } }),
  );
  const files = { ...documentFiles({ ...options, sentExamples }), 'v1/source-networks': writeJson(sourceNetworks) };
  return {
    overview: 'docs',
    routes: ['/openapi.json', '/asyncapi.json', '/schemas/:file', '/docs', '/docs/:file', '/v1/source-networks'],
    files: new Map([...contracts(files), ...page]),
  };
}

export function adminDocuments(catalog: readonly Action[]): Documents {
  return {
    overview: 'admin-openapi.json',
    routes: ['/admin-openapi.json'],
    files: new Map(contracts(adminDocumentFiles(catalog))),
  };
}

const html = (text: string) => ({ type: HTML, bytes: Buffer.from(text) });

function contracts(files: Record<string, string>): [string, Document][] {
  return Object.entries(files).map(([path, text]) =>
    entry(path, { type: contractType(path), bytes: Buffer.from(text), headers: SHARED }),
  );
}

function entry(path: string, file: Omit<Document, 'etag'>): [string, Document] {
  return [path, { ...file, etag: `"${hash('sha256', file.bytes).slice(0, 32)}"` }];
}

function contractType(path: string): string {
  return path.startsWith('schemas/') ? 'application/schema+json; charset=utf-8' : 'application/json; charset=utf-8';
}
