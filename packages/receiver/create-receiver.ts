import type { Follow } from './learned-checks.ts';
import type { Interface } from './parse-notification.ts';
import { receiving, type Receive, type ReceiveOptions } from './receive.ts';
import { requireNumbers, requireTimers } from './require-options.ts';
import { serveFastify, type FastifyScope } from './serve-fastify.ts';
import { serveFetch } from './serve-fetch.ts';
import { serveLambda, type LambdaAnswer, type LambdaEvent } from './serve-lambda.ts';
import { serveNode, type NodeListener } from './serve-node.ts';

export type ReceiverOptions<I extends Interface> = ReceiveOptions<I> & {
  /**
   * Limit of a body in bytes; defaults to 8 MiB, which takes any notification of an event of 1 MiB. A framework that has read the
   * body before has its own limit.
   */
  maxBodyBytes?: number;
  /** Limit for the arrival of a body, in milliseconds; defaults to 10 s. Fastify has its own limit. */
  bodyWithinMs?: number;
};

export type Receiver = {
  /** For `http.createServer`, and for what hands out Node's requests: Express, NestJS, pages of Next.js. */
  node: NodeListener;
  /** For frameworks that pass on the requests of `fetch`: Hono, route handlers of Next.js. It needs `node:crypto`. */
  fetch: (request: Request) => Promise<Response>;
  /** A plugin of Fastify: `app.register(receiver.fastify, { prefix: '/waybell' })`. */
  fastify: (scope: FastifyScope) => Promise<void>;
  /** A handler of AWS Lambda behind API Gateway, a function URL or a load balancer. */
  lambda: (event: LambdaEvent) => Promise<LambdaAnswer>;
  /** For anything else: from a request to the answer to it. */
  receive: Receive;
  /** For `keepSubscribed`, which passes signing secrets and verification tokens as they change. */
  follow: Follow;
};

const MAX_BODY_BYTES = 8 * 1024 * 1024;
const BODY_WITHIN_MS = 10_000;

/** Receives the notifications of one interface. Throws where the options cannot be used. */
export function createReceiver(options: ReceiverOptions<'shipper'> | ReceiverOptions<'carrier'>): Receiver {
  const { maxBodyBytes: maxBytes = MAX_BODY_BYTES, bodyWithinMs: withinMs = BODY_WITHIN_MS } = options;
  requireNumbers({ maxBodyBytes: maxBytes });
  requireTimers({ bodyWithinMs: withinMs });
  const serving = { ...receivingOf(options), limits: { maxBytes, withinMs } };
  return {
    node: serveNode(serving),
    fetch: serveFetch(serving),
    fastify: serveFastify(serving),
    lambda: serveLambda(serving),
    receive: serving.receive,
    follow: serving.follow,
  };
}

/** Both do the same: the compiler checks one interface at a time. */
function receivingOf(options: ReceiverOptions<'shipper'> | ReceiverOptions<'carrier'>) {
  return options.interface === 'shipper' ? receiving(options) : receiving(options);
}
