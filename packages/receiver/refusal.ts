/** Why a request is not taken, the status to answer it with, and what to do about it. */
export type Refusal = { kind: 'refused'; reason: RefusalReason; status: number; detail: string };

const STATUSES = {
  wrong_method: 405,
  body_too_slow: 408,
  body_too_large: 413,
  body_incomplete: 400,
  body_already_parsed: 500,
  missing_id: 400,
  missing_signature: 401,
  signature_does_not_match: 401,
  too_old: 401,
  in_the_future: 401,
  missing_token: 401,
  token_does_not_match: 401,
  not_json: 400,
  not_a_notification: 400,
} as const;

export type RefusalReason = keyof typeof STATUSES;

export function refuse(reason: RefusalReason, detail: string): Refusal {
  return { kind: 'refused', reason, status: STATUSES[reason], detail };
}

/** A body that is no longer as it came cannot be verified. */
export function refuseParsedBody(): Refusal {
  return refuse(
    'body_already_parsed',
    'something read the body before, and its signature is made over the bytes as they came. Express: mount the receiver ' +
      'before express.json(). NestJS: app.use(path, receiver.node) before app.listen(). Fastify: register(receiver.fastify, ' +
      '{ prefix }). Next.js: a route handler, or in pages/api "bodyParser: false". A parser that has to come first must keep the ' +
      'bytes, and take 8 MB of them: express.raw({ type: "application/json", limit: "8mb" }).',
  );
}
