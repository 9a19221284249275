/** The frame of every listener of the API around its routes: the address of the client, log lines, limits and problems. */
import { randomUUID } from 'node:crypto';
import express, { type Express, type RequestHandler, type Router } from 'express';
import helmet from 'helmet';
import type { Log } from '@waybell/runtime/log';
import { addressIn, isAllowedAddress, readNetworks } from '@waybell/runtime/networks';
import type { Redis } from '@waybell/runtime/redis';
import { LINK_PREFIX } from '../../console-links.ts';
import { TOKEN_PREFIX } from '../../tokens.ts';
import type { Authenticate } from '../authentication/authenticate.ts';
import type { HttpMetrics } from './http-metrics.ts';
import { limiting, type Limits } from './limits.ts';
import { answerProblems, Problem } from './problem.ts';

export type HttpAppOptions = {
  authenticate: Authenticate;
  /** The path at which strangers find which endpoints there are. */
  overview: string;
  limits: Limits;
  /** Networks of proxies whose `X-Forwarded-*` headers say where a request came from, and at which URL. */
  trustedProxies: readonly string[];
  redis: Redis;
  log: Log;
  httpMetrics: HttpMetrics;
};

/**
 * The common parts of every listener, around its routes: request ids, log lines and measurements, limits, headers, and problems
 * for errors. The routes get the authentication that counts requests and failures.
 */
export function createHttpApp(options: HttpAppOptions, routes: (authenticate: Authenticate) => Router[]): Express {
  const { limits, trustedProxies, redis, log, httpMetrics } = options;
  const app = express();
  app.disable('x-powered-by').disable('etag').enable('case sensitive routing').set('query parser', false);
  app.use(identifyRequest, locateClient(trustedProxies), observeRequests(log, httpMetrics), protect(), requireOneHost);
  app.use(...routes(limiting(options.authenticate, { ...limits, redis, log })));
  app.use(({ path }) => {
    const hint = path.includes('//') ? ' The path has a double slash, as from a base URL that ends in one.' : '';
    throw new Problem(
      'unknown-path',
      `No endpoint has this path: ${options.overview} shows those that there are.${hint}`,
    );
  });
  app.use(answerProblems(log));
  return app;
}

const identifyRequest: RequestHandler = (_request, response, next) => {
  const requestId = randomUUID();
  response.locals['requestId'] = requestId;
  response.set({ 'x-request-id': requestId, 'cache-control': 'no-store' });
  next();
};

/**
 * Sets `request.ip`: Express's own takes what `X-Forwarded-For` says as it is, ports and all, which Azure's gateways write. And
 * `apiUrl`: see `apiUrlOf`.
 */
function locateClient(trustedProxies: readonly string[]): RequestHandler {
  const find = clientBy(trustedProxies);
  return (request, response, next) => {
    const { address, proxies } = find(request);
    Object.defineProperty(request, 'ip', { value: address });
    response.locals['apiUrl'] = () => apiUrlOf(request, proxies);
    next();
  };
}

/** RFC 9112, 3.2. With two, a proxy in front may have gone by the other one. */
const requireOneHost: RequestHandler = ({ headersDistinct: { host = [] }, httpVersion }, _response, next) => {
  if (host.length > 1 || (host.length === 0 && httpVersion !== '1.0')) {
    throw new Problem('malformed-request', 'A request has to name one Host.', { headers: { connection: 'close' } });
  }
  next();
};

/** One log line and one measurement per request. */
function observeRequests(log: Log, { requestSeconds }: HttpMetrics): RequestHandler {
  return (request, response, next) => {
    const begun = performance.now();
    response.once('close', () => {
      const tookMs = performance.now() - begun;
      const [route = 'none'] = [request.route?.path].flat() as (string | undefined)[];
      const { requestId } = response.locals;
      const [method, status] = [request.method, response.statusCode];
      requestSeconds.observe({ method, route, status }, tookMs / 1_000);
      const [asked = ''] = request.originalUrl.split('?', 1);
      const path = loggedPath(asked);
      log.info({ requestId, method, path, status, ms: Math.round(tookMs) }, 'request.answered');
    });
    next();
  };
}

/**
 * Headers for answers that are no page: they load nothing, and no page may frame or read them. Omits headers that only matter for
 * pages.
 */
function protect(): RequestHandler {
  return helmet({
    crossOriginOpenerPolicy: false,
    originAgentCluster: false,
    xDnsPrefetchControl: false,
    xDownloadOptions: false,
    xPermittedCrossDomainPolicies: false,
    xXssProtection: false,
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
  });
}

type Located = {
  headersDistinct: NodeJS.Dict<string[]>;
  socket: { remoteAddress?: string | undefined };
};

/**
 * Finds the address of a client: the nearest address on its way that is not in `trustedProxies`, by their `X-Forwarded-For`; and
 * how many of them it came through. If a proxy forwards a text that is no address, the proxy itself counts: otherwise strangers
 * could choose that text. Ignores empty parts (RFC 9110, 5.6.1.2). The address is undefined once the connection is closed.
 */
export function clientBy(
  trustedProxies: readonly string[],
): (request: Located) => { address: string | undefined; proxies: number } {
  const networks = readNetworks(trustedProxies);
  return ({ headersDistinct, socket }) => {
    const way = partsOf(headersDistinct['x-forwarded-for']);
    let address = addressIn(socket.remoteAddress ?? '');
    let proxies = 0;
    while (address !== undefined && isAllowedAddress(address, networks)) {
      proxies += 1;
      const before = addressIn(way.pop() ?? '');
      if (before === undefined) break;
      address = before;
    }
    return { address, proxies };
  };
}

const partsOf = (lines: string[] = []): string[] =>
  lines
    .flatMap((line) => line.split(','))
    .map((part) => part.trim())
    .filter((part) => part !== '');

const SCHEME = /^https?$/i;
const HOST = /^(?:[\w.-]{1,253}|\[[\da-f:.]{2,45}\])(?::\d{1,5})?$/i;
const PREFIX = /^(?:\/(?!\/)[\w.~%/-]{0,200})?$/;

/**
 * The URL, without a slash at its end, at which a client reached the API: by its `Host`, and by what the outermost of so many
 * trusted proxies says in `X-Forwarded-Proto`, `-Host` and `-Prefix`. Undefined where any of them is not what it has to be.
 */
export function apiUrlOf({ headersDistinct }: Pick<Located, 'headersDistinct'>, proxies: number): string | undefined {
  const forwarded = (name: string) => {
    // Each proxy adds its own at the end, or the first alone writes one; behind the last is none.
    const values = partsOf(headersDistinct[`x-forwarded-${name}`]);
    return values[Math.max(0, values.length - proxies)];
  };
  const scheme = forwarded('proto') ?? 'http';
  const host = forwarded('host') ?? headersDistinct['host']?.[0] ?? '';
  const prefix = forwarded('prefix') ?? '';
  const text = `${scheme}://${host}`;
  if (!SCHEME.test(scheme) || !HOST.test(host) || !PREFIX.test(prefix) || !URL.canParse(text)) return undefined;
  return `${new URL(text).origin}${prefix.replace(/\/$/, '')}`;
}

// A secret belongs into a header, a body or behind a #; a path with one is answered with an error, and logged without it.
const SECRET = new RegExp(String.raw`(${TOKEN_PREFIX}|${LINK_PREFIX})[\w-]+`, 'g');

/** A URL in the place of a host: what stands before its host and after it. */
const HOST_URL = /^(\/+v1\/+credentials\/).*(?:@|%40|[?#]|%3f|%23|%2f|\/.).*/i;

/** Returns the path of a request without possible secrets: access tokens, codes of links, and URLs of receivers. */
export function loggedPath(path: string): string {
  return path.replaceAll(SECRET, '$1***').replace(HOST_URL, '$1***');
}
