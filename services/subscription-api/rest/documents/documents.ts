/** Documents without a token: the contracts, and the pages to read them by, kept in memory with each of their encodings. */
import { hash } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { createRequire } from 'node:module';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { brotliCompress, constants, crc32, deflateRaw, gzip, type ZlibOptions } from 'node:zlib';
import type { Request, Response } from 'express';
import type { Action, Interface } from '@waybell/catalog/action';
import { adminDocumentFiles, clientDocumentFiles, documentFiles } from '../../operations/openapi-documents.ts';
import { sentExamples } from '@waybell/contracts/sent-examples';
import { writeJson } from '@waybell/contracts/write-json';
import type { Documents } from '../../operations/services.ts';
import { Problem } from '../http/problem.ts';
import { pagePolicy } from './page-policy.ts';
import { sourceNetworksHtml, type SourceNetworks } from './source-networks.ts';

type Document = {
  type: string;
  headers: Record<string, string>;
  /** The content for a client that reached the API at this URL. */
  contentFor(apiUrl: string | undefined): DocumentContent;
};

const CACHED = 'public, max-age=300';
const HTML = 'text/html; charset=utf-8';

/** Pages of any origin may read public documents. */
const SHARED = { 'access-control-allow-origin': '*', 'cross-origin-resource-policy': 'cross-origin' };

function serving(files: ReadonlyMap<string, Document>): Documents {
  return {
    async send(request, response) {
      const document = files.get(request.path.replaceAll(/^\/|\/$/g, ''));
      if (document === undefined) throw new Problem('unknown-path', 'No document has this path: /docs names them.');
      // Resources of the page lie beside it, under whatever path a proxy shows the API.
      if (document.type === HTML && request.path.endsWith('/'))
        return void response
          .status(308)
          .set('location', `../${request.path.split('/').at(-2)}`)
          .end();
      return send(document, request, response);
    },
  };
}

async function send({ type, headers, contentFor }: Document, request: Request, response: Response): Promise<void> {
  // Set by createHttpApp.
  const { hash: of, encodings, as } = contentFor(response.locals['apiUrl']() as string | undefined);
  const encoding = encodings.find((each) => request.acceptsEncodings(each)) ?? 'identity';
  // Each encoding is another sequence of bytes, and so another ETag.
  const etag = encoding === 'identity' ? `"${of}"` : `"${of}-${encoding}"`;
  response.set({ 'content-type': type, etag, vary: 'accept-encoding', 'cache-control': CACHED, ...headers });
  if (isKept(request.headers['if-none-match'], etag)) {
    response.status(304).end();
    return;
  }
  if (encoding !== 'identity') response.set('content-encoding', encoding);
  const bytes = await as(encoding);
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
    entry(path, { ...file, headers: { 'content-security-policy': pagePolicy({ areStylesWritten: path === 'docs' }) } }),
  );
  const files = {
    ...documentFiles({ ...options, sentExamples }),
    ...clientDocumentFiles(options.catalog, options.interfaces),
    'v1/source-networks': writeJson(sourceNetworks),
  };
  return serving(new Map([...contracts(files), ...page]));
}

export function adminDocuments(catalog: readonly Action[]): Documents {
  return serving(new Map(contracts(adminDocumentFiles(catalog))));
}

const asHtml = (text: string) => ({ type: HTML, bytes: Buffer.from(text) });

function contracts(files: Record<string, string>): [string, Document][] {
  return Object.entries(files).map(([path, text]) => {
    const file = { type: contractType(path), headers: SHARED };
    const [before, after] = text.split(SERVERS, 2);
    return before === undefined || after === undefined
      ? entry(path, { ...file, bytes: Buffer.from(text) })
      : [path, { ...file, headers: { ...SHARED, vary: VARY }, contentFor: withServer(before, after) }];
  });
}

type File = Pick<Document, 'type' | 'headers'> & { bytes: Buffer };

function entry(path: string, { bytes, ...file }: File): [string, Document] {
  const content = fixed(bytes);
  return [path, { ...file, contentFor: () => content }];
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
    'docs/redoc.js': { type: script, bytes: Buffer.from(redoc().replaceAll(LOGO, 'data:,')) },
  };
}

const redoc = (): string => readFileSync(require.resolve('redoc/bundles/redoc.standalone.js'), 'utf8');

/** Redoc would fetch its logo from its makers, who would learn of every reader. */
const LOGO = 'https://cdn.redoc.ly/redoc/';

const pageFile = (name: string): Buffer => readFileSync(join(import.meta.dirname, 'page', name));

/** An encoding in which the bytes of a document may be sent. */
type ContentEncoding = 'br' | 'gzip' | 'identity';

type DocumentContent = {
  hash: string;
  /** The best first. */
  encodings: readonly Exclude<ContentEncoding, 'identity'>[];
  as(encoding: ContentEncoding): Promise<Buffer>;
};

/** A tenth of the time of the best, for a twentieth more bytes. */
const QUALITY = { params: { [constants.BROTLI_PARAM_QUALITY]: 9 } };

const COMPRESS: Record<ContentEncoding, (bytes: Buffer) => Promise<Buffer>> = {
  br: (bytes) => promisify(brotliCompress)(bytes, QUALITY),
  gzip: (bytes) => promisify(gzip)(bytes),
  identity: (bytes) => Promise.resolve(bytes),
};

/** Bytes that never change: compressed once, when they are first requested. */
function fixed(bytes: Buffer): DocumentContent {
  const kept = new Map<ContentEncoding, Promise<Buffer>>();
  return {
    hash: hashOf(bytes),
    encodings: ['br', 'gzip'],
    as(encoding) {
      const known = kept.get(encoding) ?? COMPRESS[encoding](bytes);
      kept.set(encoding, known);
      return known;
    },
  };
}

const hashOf = (...parts: Buffer[]): string => hash('sha256', Buffer.concat(parts)).slice(0, 32);

/** The beginning of the servers of an OpenAPI document. */
const SERVERS = '\n  "servers": [\n';
const VARY = 'accept-encoding, host, x-forwarded-host, x-forwarded-prefix, x-forwarded-proto';
const GZIP_HEADER = Buffer.from('1f8b08000000000000ff', 'hex');
const pack = promisify<Buffer, ZlibOptions, Buffer>(deflateRaw);
const TO_BE_CONTINUED = { level: 9, finishFlush: constants.Z_FULL_FLUSH };

/**
 * An OpenAPI document, before its servers and from there on; the first of them becomes the URL at which the client reached the
 * API, as programs that have read the document no longer know where. Compressed once but for that URL, so that an unheard-of
 * host is not compressed for, nor kept: brotli cannot be put together so.
 */
function withServer(before: string, after: string): Document['contentFor'] {
  const [head, tail] = [Buffer.from(before + SERVERS), Buffer.from(after)];
  const of = Buffer.from(hashOf(head, tail));
  let packed: Promise<[Buffer, Buffer]> | undefined;
  return (url) => {
    const server = { url, description: 'Where this document was read.' };
    const middle = Buffer.from(url === undefined ? '' : `    ${JSON.stringify(server)},\n`);
    return {
      hash: hashOf(of, middle),
      encodings: ['gzip'],
      async as(encoding) {
        if (encoding === 'identity') return Buffer.concat([head, middle, tail]);
        packed ??= Promise.all([pack(head, TO_BE_CONTINUED), pack(tail, { level: 9 })]);
        const [packedHead, packedTail] = await packed;
        const end = Buffer.alloc(8);
        end.writeUInt32LE(crc32(tail, crc32(middle, crc32(head))));
        end.writeUInt32LE(head.length + middle.length + tail.length, 4);
        return Buffer.concat([GZIP_HEADER, packedHead, await pack(middle, TO_BE_CONTINUED), packedTail, end]);
      },
    };
  };
}
