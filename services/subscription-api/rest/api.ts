import { randomUUID } from 'node:crypto';
import type { Interface } from '@waybell/catalog/action';
import type { Log } from '@waybell/runtime/log';
import type { Metrics } from '@waybell/runtime/metrics';
import express, { type Express, type RequestHandler } from 'express';
import helmet from 'helmet';
import { Histogram } from 'prom-client';
import { carrierRoutes } from './carrier.ts';
import { documentRoutes } from './documents.ts';
import { answerProblems, Problem } from './problem.ts';
import type { RouteOptions } from './routes.ts';
import { shipperRoutes } from './shipper.ts';

export type ApiOptions = RouteOptions & { interfaces: readonly string[]; log: Log; metrics: Metrics };

const ROUTES = { shipper: shipperRoutes, carrier: carrierRoutes } satisfies Record<Interface, unknown>;

/** The REST interface: both interfaces' endpoints, or those of the ones named. */
export function createApi({ interfaces, log, metrics, ...options }: ApiOptions): Express {
  const api = express();
  api.disable('x-powered-by').disable('etag').enable('case sensitive routing').set('query parser', false);
  api.use(identifyRequest, observeRequests(log, metrics), protect());
  const served = (['shipper', 'carrier'] as const).filter((name) => interfaces.includes(name));
  for (const name of served) api.use(ROUTES[name](options));
  api.use(documentRoutes({ interfaces: served, catalog: options.catalog }));
  api.use(() => {
    throw new Problem('unknown-path', 'No endpoint has this path; see the documentation of the REST interface.');
  });
  api.use(answerProblems(log));
  return api;
}

const identifyRequest: RequestHandler = (_request, response, next) => {
  const requestId = randomUUID();
  response.locals['requestId'] = requestId;
  response.set({ 'x-request-id': requestId, 'cache-control': 'no-store' });
  next();
};

/** One log line and one measurement per request. The path holds no secret: those are in a header and in bodies. */
function observeRequests(log: Log, metrics: Metrics): RequestHandler {
  const seconds = new Histogram({
    name: 'waybell_http_request_seconds',
    help: 'Time from a request to the end of its answer',
    labelNames: ['method', 'route', 'status'],
    registers: [metrics],
  });
  return (request, response, next) => {
    const begun = performance.now();
    response.once('close', () => {
      const tookMs = performance.now() - begun;
      const [route = 'none'] = [request.route?.path].flat() as (string | undefined)[];
      const { requestId } = response.locals;
      const [method, status] = [request.method, response.statusCode];
      seconds.observe({ method, route, status }, tookMs / 1_000);
      log.info({ requestId, method, path: request.path, status, ms: Math.round(tookMs) }, 'request.answered');
    });
    next();
  };
}

/** Nothing here is a page: it loads nothing, and no page may frame or read it. */
function protect(): RequestHandler {
  return helmet({
    contentSecurityPolicy: {
      useDefaults: false,
      directives: { 'default-src': ["'none'"], 'frame-ancestors': ["'none'"] },
    },
    xFrameOptions: { action: 'deny' },
  });
}
