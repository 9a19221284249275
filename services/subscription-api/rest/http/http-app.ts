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
  /** Networks of proxies whose `X-Forwarded-For` says where a request came from. */
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

/** Sets `request.ip`: Express's own takes what `X-Forwarded-For` says as it is, ports and all, which Azure's gateways write. */
function locateClient(trustedProxies: readonly string[]): RequestHandler {
  const addressOf = clientAddressBy(trustedProxies);
  return (request, _response, next) => {
    Object.defineProperty(request, 'ip', { value: addressOf(request) });
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
      const { requestId, routeOf = (path: string) => path } = response.locals;
      const [method, status] = [request.method, response.statusCode];
      requestSeconds.observe({ method, route: routeOf(route), status }, tookMs / 1_000);
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
 * Finds the address of a client: the nearest address on its way that is not in `trustedProxies`, by their `X-Forwarded-For`. If a
 * proxy forwards a text that is no address, the proxy itself counts: otherwise strangers could choose that text. Ignores empty
 * parts (RFC 9110, 5.6.1.2). Undefined once the connection is closed.
 */
export function clientAddressBy(trustedProxies: readonly string[]): (request: Located) => string | undefined {
  const proxies = readNetworks(trustedProxies);
  return ({ headersDistinct: { 'x-forwarded-for': lines = [] }, socket }) => {
    const way = lines.flatMap((line) => line.split(',')).filter((hop) => hop.trim() !== '');
    let address = addressIn(socket.remoteAddress ?? '');
    while (address !== undefined && isAllowedAddress(address, proxies)) {
      const before = addressIn(way.pop() ?? '');
      if (before === undefined) break;
      address = before;
    }
    return address;
  };
}

// A secret belongs into a header, a body or behind a #; a path with one is answered with an error, and logged without it.
const SECRET = new RegExp(String.raw`(${TOKEN_PREFIX}|${LINK_PREFIX})[\w-]+`, 'g');

/** A URL in the place of a host: what stands before its host and after it. */
const HOST_URL = /^(\/+v1\/+credentials\/).*(?:@|%40|[?#]|%3f|%23|%2f|\/.).*/i;

/** Returns the path of a request without possible secrets: access tokens, codes of links, and URLs of receivers. */
export function loggedPath(path: string): string {
  return path.replaceAll(SECRET, '$1***').replace(HOST_URL, '$1***');
}
