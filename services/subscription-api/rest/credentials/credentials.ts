/** Clients' credentials for their hosts: the routes, the check of a token URL, and the reading of a request with all its faults. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type Request } from 'express';
import { credentialsRequest } from '../../operations/credentials-paths.ts';
import { shownUrl } from '@waybell/notifications/callback';
import {
  TOKEN_CHECK_MS,
  TOKEN_CHECKS,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
  type ClientCredentials,
  type ReceiverCredentials,
} from '@waybell/notifications/receiver-credentials';
import type { Redis } from '@waybell/runtime/redis';
import { findHostRefusal, readCallbackHost, readCallbackUrl, type CallbackRules } from '../../callback-url.ts';
import {
  MOST_HOSTS,
  type HostCredentials,
  type NewCredentials,
  type ShownCredentials,
} from '../../receiver-credentials.ts';
import type { Scope } from '../../tokens.ts';
import { requireScope } from '../authentication/authenticate.ts';
import { readJson, readNothing, bodyFaults, invalidBody, isObject, pointTo } from '../http/body.ts';
import { Problem, type Fault } from '../http/problem.ts';
import { invalidParameters } from '../http/read-query.ts';
import { answerFor, answerObject, addPath, type RouteOptions } from '../http/routes.ts';
import { readCertificate } from './read-certificate.ts';

type OfHost = { host: string };

/** Credentials of a client's callbacks at a host, the same on either interface. No answer has a secret. */
export function credentialsRoutes(options: RouteOptions & { redis: Redis }): Router {
  const { authenticate, credentials, callbackRules: rules, redis } = options;
  const router = Router({ caseSensitive: true });

  async function admit(request: Request<OfHost>, scope: Scope) {
    const caller = await authenticate(request);
    requireScope(caller, scope);
    return { caller, host: requireHost(request.params.host) };
  }

  addPath(router, ['/v1/credentials'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      answerFor(caller, response, { objects: (await credentials.list(caller)).map(view) });
    },
  });

  addPath<OfHost>(router, ['/v1/credentials/:host'], {
    async get(request, response) {
      const { caller, host } = await admit(request, 'webhooks:read');
      const found = await credentials.find(caller, host);
      if (found === undefined) throw unknown(host);
      answerObject(caller, response, view(found));
    },

    async put(request, response) {
      const { caller, host } = await admit(request, 'webhooks:write');
      const refusal = findHostRefusal(host, rules);
      if (refusal !== null) throw invalidHost(refusal);
      const body = await readJson(request, response);
      const given = await readCredentialsRequest(body, { rules, nowMs: Date.now() });
      const done = await credentials.put(caller, { host, ...given });
      if (done === undefined) throw new Problem('too-many-credentials', TOO_MANY);
      const needsToken = given.credentials.oauth2 !== undefined;
      const check = { guid: done.guid, callbackUrl: `https://${host}/` };
      const token = needsToken ? { token: await checkToken(redis, check) } : {};
      answerObject(caller, response.status(done.isNew ? 201 : 200), { ...view(done.put), ...token });
    },

    async delete(request, response) {
      const { caller, host } = await admit(request, 'webhooks:write');
      await readNothing(request, response);
      if (!(await credentials.remove(caller, host))) throw unknown(host);
      response.status(204).end();
    },
  });

  router.all('/v1/credentials/*url', () => {
    throw new Problem('unknown-path', 'Give the host of your callback URL alone: /v1/credentials/receiver.example.com');
  });

  return router;
}

const TOO_MANY = `A client has credentials for at most ${MOST_HOSTS} hosts: DELETE those that are no longer used.`;

function requireHost(text: string): string {
  const read = readCallbackHost(text);
  if ('host' in read) return read.host;
  throw invalidHost(read.fault);
}

const invalidHost = (detail: string): Problem => invalidParameters([{ parameter: 'host', detail }]);

const unknown = (host: string): Problem =>
  new Problem(
    'unknown-credentials',
    `This client has none for ${host}: GET /v1/credentials has the hosts that it has some for.`,
  );

function view({ host, shown, changedAt, subscriptions }: HostCredentials) {
  const { headers = null, basic = null, oauth2 = null, certificate = null } = shown;
  return { host, headers, basic, oauth2, certificate, changed_at: changedAt.toISOString(), subscriptions };
}

const POLL_MS = 50;
/** A deliverer has begun the check after so many polls. */
const POLLS_UNTIL_BEGUN = 40;
const NOT_TRIED: TokenCheckResult = { status: 'not_tried' };

/**
 * Has a deliverer fetch a token for credentials that were just put in: token URLs know its addresses, not this process'. Resolves with
 * what came, within twenty seconds; `not_tried` where no deliverer or no Redis is there. Never rejects.
 */
async function checkToken(redis: Redis, check: TokenCheck): Promise<TokenCheckResult> {
  const asked = JSON.stringify(check);
  try {
    await redis.multi().rpush(TOKEN_CHECKS, asked).pexpire(TOKEN_CHECKS, TOKEN_CHECK_MS).exec();
    for (let polls = 1; polls <= TOKEN_CHECK_MS / POLL_MS; polls += 1) {
      await sleep(POLL_MS);
      const result = await redis.get(tokenCheckKey(check.guid));
      // Only deliverers write it.
      if (result !== null) return JSON.parse(result) as TokenCheckResult;
      if (polls === POLLS_UNTIL_BEGUN && (await redis.lrem(TOKEN_CHECKS, 1, asked)) > 0) return NOT_TRIED;
    }
  } catch {
    // Redis is away, which readiness reports.
  }
  return NOT_TRIED;
}

/** A body that fits the schema. */
type CredentialsBody = Omit<ReceiverCredentials, 'oauth2'> & { oauth2?: OAuth2Body };
type OAuth2Body = {
  token_url: string;
  client_id: string;
  client_secret: string;
  scope?: string;
  audience?: string;
  secret_in: 'header' | 'body';
};

type ReadRequest = Omit<NewCredentials, 'host'>;
/** One kind of credentials in a request; empty if it was left out. */
type ReadKind = { faults: Fault[]; credentials?: ReceiverCredentials; shown?: ShownCredentials };

const faultsOfSchema = bodyFaults(credentialsRequest);
const OF_HEADERS = `${pointTo('headers')}/`;

/**
 * Reads a client's credentials for a host, and their public part. Throws a Problem (422) that names every fault, without anything
 * that may be secret.
 */
export async function readCredentialsRequest(
  body: unknown,
  { rules, nowMs }: { rules: CallbackRules; nowMs: number },
): Promise<ReadRequest> {
  const { headers: given } = isObject(body) ? body : {};
  const ofHeaders = isObject(given) ? headerFaults(given) : [];
  // A pointer to a header has its name, which may be a secret that is in the wrong place.
  const ofSchema = faultsOfSchema(body).filter(({ pointer }) => !pointer.startsWith(OF_HEADERS));
  if (ofSchema.length > 0) throw invalidBody([...ofSchema, ...ofHeaders, ...kindFaults(body)]);
  // The body fits the schema.
  const asked = body as CredentialsBody;
  const { headers, basic, oauth2, certificate } = asked;
  const kinds: ReadKind[] = [
    headers === undefined
      ? NONE
      : { faults: ofHeaders, credentials: { headers }, shown: { headers: Object.keys(headers) } },
    basic === undefined ? NONE : readBasic(basic),
    oauth2 === undefined ? NONE : await readOAuth2(oauth2, rules),
    certificate === undefined ? NONE : readCertificateKind(certificate, nowMs),
    { faults: kindFaults(body) },
  ];
  const faults = kinds.flatMap((kind) => kind.faults);
  if (faults.length > 0) throw invalidBody(faults);
  return {
    credentials: Object.assign({}, ...kinds.map((kind) => kind.credentials)),
    shown: Object.assign({}, ...kinds.map((kind) => kind.shown)),
  };
}

const NONE: ReadKind = { faults: [] };

/** A request has one Authorization. */
function kindFaults(body: unknown): Fault[] {
  if (!isObject(body)) return [];
  const { headers, basic, oauth2, certificate } = body;
  if ([headers, basic, oauth2, certificate].every((kind) => kind === undefined))
    return [{ pointer: '#', detail: 'must have at least one of: headers, basic, oauth2, certificate' }];
  const authorization = Object.keys(isObject(headers) ? headers : {}).find((name) => /^authorization$/i.test(name));
  const others = [...(basic === undefined ? [] : ['basic']), ...(oauth2 === undefined ? [] : ['oauth2'])];
  if (authorization !== undefined && others.length > 0) {
    const detail = `is what ${others.join(' and ')} would be sent as: give one of them`;
    return [{ pointer: pointTo('headers', authorization), detail }];
  }
  return others.length < 2 ? [] : [{ pointer: pointTo('oauth2'), detail: 'cannot be beside basic: give one of them' }];
}

function readBasic(basic: NonNullable<ReceiverCredentials['basic']>): ReadKind {
  const { username, password } = basic;
  const isEmpty = username + password === '';
  const broken = (['username', 'password'] as const).filter((member) => !basic[member].isWellFormed());
  return {
    faults: [
      ...(isEmpty ? [{ pointer: pointTo('basic'), detail: 'has neither a username nor a password' }] : []),
      ...broken.map((member) => ({
        pointer: pointTo('basic', member),
        detail: 'holds half a character (a lone surrogate)',
      })),
    ],
    credentials: { basic },
    shown: { basic: { username } },
  };
}

async function readOAuth2(oauth2: OAuth2Body, rules: CallbackRules): Promise<ReadKind> {
  const { token_url, client_id: clientId, client_secret: clientSecret, secret_in: secretIn, ...more } = oauth2;
  const read = await readCallbackUrl(token_url, rules);
  if ('fault' in read) return { faults: [{ pointer: pointTo('oauth2', 'token_url'), detail: read.fault }] };
  const sealed: ClientCredentials = { tokenUrl: read.url, clientId, clientSecret, secretIn, ...more };
  const url = shownUrl(new URL(read.url));
  return {
    faults: [],
    credentials: { oauth2: sealed },
    shown: { oauth2: { token_url: url, client_id: clientId, secret_in: secretIn, ...more } },
  };
}

function readCertificateKind(given: NonNullable<ReceiverCredentials['certificate']>, nowMs: number): ReadKind {
  const read = readCertificate(given, nowMs);
  if ('faults' in read) return read;
  const { certificate, shown } = read;
  return { faults: [], credentials: { certificate }, shown: { certificate: shown } };
}

const MOST_HEADERS = 5;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 4_096;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Headers that callbacks have already, or that frame a message; a constant `Date` is wrong. */
const RESERVED = new Set(
  [
    'x-service-verification-token user-agent accept-encoding traceparent tracestate date host __proto__',
    'connection keep-alive te trailer trailers transfer-encoding upgrade expect',
  ].flatMap((names) => names.split(' ')),
);
const RESERVED_PREFIXES = ['webhook-', 'x-webhook-', 'content-', 'proxy-'];

const isReserved = (name: string): boolean =>
  RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));

/** Finds faults of the headers for callbacks. No fault shows a value, nor an invalid name. */
export function headerFaults(headers: Record<string, unknown>): Fault[] {
  const entries = Object.entries(headers);
  if (entries.length === 0)
    return [{ pointer: pointTo('headers'), detail: 'has no header: give one, or leave it out' }];
  if (entries.length > MOST_HEADERS)
    return [{ pointer: pointTo('headers'), detail: `has more than ${MOST_HEADERS} headers: give fewer` }];
  const names = entries.map(([name]) => name.toLowerCase());
  return entries.flatMap(([name, value], index) => {
    const isName = TOKEN.test(name) && name.length <= LONGEST_NAME;
    // Name and value may be the wrong way round.
    if (!isName) return [{ pointer: pointTo('headers'), detail: nameDetail(index) }];
    const isTwice = names.indexOf(name.toLowerCase()) < index;
    const detail = isTwice ? 'is there twice: in capitals or not, it is the same header' : headerFault(name, value);
    return detail === null ? [] : [{ pointer: pointTo('headers', name), detail }];
  });
}

const nameDetail = (index: number): string =>
  `has a name, number ${index + 1}, that no header can have: at most ${LONGEST_NAME} letters, digits and - _ . and the like, such as X-Api-Key`;

function headerFault(name: string, value: unknown): string | null {
  if (isReserved(name.toLowerCase()))
    return 'is a header that callbacks have, or may not have: give another, or leave it out';
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'is empty: give a value, or leave the header out';
  if (value.length > LONGEST_VALUE) return `is longer than ${LONGEST_VALUE} characters`;
  if (!PRINTABLE.test(value)) return 'must be visible ASCII characters and blanks, without a line end: encode others';
  return value.trim() === value ? null : 'begins or ends with a blank, which does not arrive: take it out';
}
