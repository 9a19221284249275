/** Documents without a token: the contracts, and the pages to read them by, kept in memory with each of their encodings. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, gzip } from 'node:zlib';
import { Router, type Request, type Response } from 'express';
import type { Action, Interface } from '@waybell/catalog/action';
import { adminDocumentFiles, clientDocumentFiles, documentFiles } from '../../operations/document-files.ts';
import { sentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';
import { addPath } from '../http/routes.ts';
import { pagePolicy } from './page-policy.ts';
import { sourceNetworksHtml, type SourceNetworks } from './source-networks.ts';

/** The document that links to the others, the paths of routes, and the documents by path. */
export type Documents = { overview: string; routes: string[]; files: ReadonlyMap<string, Document> };

type Document = { type: string; content: Compressible; hash: string; headers: Record<string, string> };

const CACHED = 'public, max-age=300';
const HTML = 'text/html; charset=utf-8';

/** Pages of any origin may read public documents. */
const SHARED = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

/** Serves documents without a token. */
export function documentRoutes({ overview, routes, files }: Documents): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/'], {
    // Relative, as a proxy may show the API under a path of its own.
    get: (_request, response) => void response.status(303).set('location', overview).end(),
  });
  addPath(router, routes, {
    async get(request, response, next) {
      const document = files.get(request.path.replaceAll(/^\/|\/$/g, ''));
      // Resources of the page lie beside it, under whatever path a proxy shows the API.
      if (document?.type === HTML && request.path.endsWith('/'))
        response
          .status(308)
          .set('location', `../${request.path.split('/').at(-2)}`)
          .end();
      else if (document === undefined) next('router');
      else return send(document, request, response);
    },
  });
  return router;
}

async function send({ type, content, hash: of, headers }: Document, request: Request, response: Response) {
  const encoding = (['br', 'gzip'] as const).find((each) => request.acceptsEncodings(each)) ?? 'identity';
  // Each encoding is another sequence of bytes, and so another ETag.
  const etag = encoding === 'identity' ? `"${of}"` : `"${of}-${encoding}"`;
  response.set({ 'content-type': type, etag, vary: 'accept-encoding', 'cache-control': CACHED, ...headers });
  if (isKept(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  if (encoding !== 'identity') response.set('content-encoding', encoding);
  const bytes = await content.as(encoding);
  response.set('content-length', String(bytes.length)).end(bytes);
}

/** Whether the client has the document: Express would say no for a request with `Cache-Control: no-cache`, which only asks. */
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
  const pages = { ...pageFiles(), 'docs/source-networks': asHtml(sourceNetworksHtml(sourceNetworks)) };
  const page = Object.entries(pages).map(([path, file]) =>
    entry(path, { ...file, headers: { 'content-security-policy': pagePolicy() } }),
  );
  const files = {
    ...documentFiles({ ...options, sentExamples }),
    ...clientDocumentFiles(options.catalog, options.interfaces),
    'v1/source-networks': writeJson(sourceNetworks),
  };
  return {
    overview: 'docs',
    routes: [
      '/openapi.json',
      '/openapi/:file',
      '/asyncapi.json',
      '/schemas/:file',
      '/docs',
      '/docs/:file',
      '/v1/source-networks',
    ],
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

const asHtml = (text: string) => ({ type: HTML, bytes: Buffer.from(text) });

function contracts(files: Record<string, string>): [string, Document][] {
  return Object.entries(files).map(([path, text]) =>
    entry(path, { type: contractType(path), bytes: Buffer.from(text), headers: SHARED }),
  );
}

type File = Pick<Document, 'type' | 'headers'> & { bytes: Buffer };

function entry(path: string, { bytes, ...file }: File): [string, Document] {
  return [path, { ...file, content: compressible(bytes), hash: hash('sha256', bytes).slice(0, 32) }];
}

function contractType(path: string): string {
  return path.startsWith('schemas/') ? 'application/schema+json; charset=utf-8' : 'application/json; charset=utf-8';
}

type PageFile = { type: string; bytes: Buffer };

const require = createRequire(import.meta.url);

/** The page that shows openapi.json, and all it loads, by path. */
function pageFiles(): Record<string, PageFile> {
  const script = 'text/javascript; charset=utf-8';
  const style = 'text/css; charset=utf-8';
  return {
    docs: { type: HTML, bytes: pageFile('page.html') },
    'docs/start.js': { type: script, bytes: pageFile('start.js') },
    'docs/page.css': { type: style, bytes: pageFile('page.css') },
    'docs/source-networks.css': { type: style, bytes: pageFile('source-networks.css') },
    'docs/swagger-ui.css': { type: style, bytes: readFileSync(require.resolve('swagger-ui-dist/swagger-ui.css')) },
    'docs/swagger-ui-bundle.js': {
      type: script,
      bytes: readFileSync(require.resolve('swagger-ui-dist/swagger-ui-bundle.js')),
    },
  };
}

const pageFile = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'page', name));

/** An encoding in which the bytes of a document may be sent. */
type ContentEncoding = 'br' | 'gzip' | 'identity';

type Compressible = {
  /** Returns the bytes in this encoding. They are compressed once, when they are first requested. */
  as(encoding: ContentEncoding): Promise<Buffer>;
};

/** A tenth of the time of the best, for a twentieth more bytes. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const COMPRESS: Record<ContentEncoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, QUALITY),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: (bytes) => Promise.resolve(bytes),
};

/** Marks bytes that never change. */
function compressible(bytes: Buffer): Compressible {
  const kept = new Map<ContentEncoding, Promise<Buffer>>();
  return {
    as(encoding) {
      const known = kept.get(encoding) ?? COMPRESS[encoding](bytes);
      kept.set(encoding, known);
      return known;
    },
  };
}
