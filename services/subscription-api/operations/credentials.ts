/** Clients' credentials for their hosts: what their callbacks there authenticate with. No answer has a secret. */
import { setTimeout as sleep } from 'node:timers/promises';
import { Router } from 'express';
import {
  TOKEN_CHECK_MS,
  TOKEN_CHECKS,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Redis } from '@waybell/runtime/redis';
import { findHostRefusal, readCallbackHost } from '../callback-url.ts';
import { MOST_HOSTS, type HostCredentials } from '../receiver-credentials.ts';
import { Problem } from '../rest/http/problem.ts';
import { invalidParameters } from '../rest/http/read-query.ts';
import { credentialsRequest, readCredentialsRequest, shownRequest } from './credential-rules.ts';
import { data, noBody, nothing, one, operationsOf, Replied, type LinkTarget, type PathParameter } from './operation.ts';
import { choice, component, count, from, list, moment, object, objects, optional, orNull, text } from './schema.ts';
import type { ClientServices } from './services.ts';

const Credentials = component(
  'Credentials',
  object(
    {
      host: text({ examples: ['receiver.example.com'] }),
      headers: from(
        ({ shown }: HostCredentials) => shown.headers,
        orNull(list(text({ examples: ['X-Api-Key'] }), 'Their names.')),
      ),
      basic: from(({ shown }: HostCredentials) => shown.basic, orNull(object({ username: text() }))),
      oauth2: from(
        ({ shown }: HostCredentials) => shown.oauth2,
        orNull(
          object({
            token_url: text('Values in its query are `***`.'),
            client_id: text(),
            scope: optional(text('Only where one is asked for.')),
            audience: optional(text('Only where one is asked for.')),
            secret_in: choice(['header', 'body']),
          }),
        ),
      ),
      certificate: from(
        ({ shown }: HostCredentials) => shown.certificate,
        orNull(
          object({
            subject: text(),
            issuer: text(),
            not_before: moment(),
            not_after: moment('Put in another before.'),
            fingerprint: text('SHA-256.'),
          }),
        ),
      ),
      token: optional(
        object(
          {
            status: choice(['issued', 'failed', 'not_tried']),
            detail: optional(text('Only with `failed`: what the token URL answered.')),
          },
          'Only in the answer to a PUT of `oauth2`: whether the token URL gave a token, asked once. `not_tried`: nobody could ask.',
        ),
      ),
      changed_at: moment(),
      subscriptions: count("How many of the client's current subscriptions have their callbacks go there."),
    },
    'Kinds that are not there are null.',
  ),
);

const operation = operationsOf<Pick<ClientServices, 'credentials' | 'callbackRules' | 'redis'>>();

const host: PathParameter<string> = {
  schema: text({ examples: ['receiver.example.com'] }),
  description: 'Of callback URLs, with its port where that is not 443: `receiver.example.com:8443`.',
  trait: 'parameters',
  read(given) {
    const read = readCallbackHost(given);
    if ('host' in read) return read.host;
    throw invalidHost(read.fault);
  },
};

const ofAll = { tag: 'Credentials', method: 'get', path: '/v1/credentials', scope: 'webhooks:read' } as const;
const ofHost = {
  tag: 'Credentials',
  path: '/v1/credentials/{host}',
  scope: 'webhooks:write',
  parameters: { host },
} as const;

/** Each operation on a host that needs no more than that. */
const byHost = (at: string): LinkTarget[] =>
  ['getCredentials', 'deleteCredentials'].map((operationId) => ({ operationId, parameter: 'host', at }));

export const credentialsOperations = [
  operation({
    ...ofAll,
    id: 'listCredentials',
    summary: 'See for which hosts there are credentials',
    description: 'Those of the client, by host, without anything that is secret.',
    answers: { 200: data('The credentials.', objects(Credentials), byHost('/objects/0/host')) },
    handle: async ({ caller, services }) => ({ objects: await services.credentials.list(caller) }),
  }),

  operation({
    ...ofHost,
    method: 'get',
    id: 'getCredentials',
    summary: 'See what there is for a host',
    description: 'Without anything that is secret.',
    scope: 'webhooks:read',
    answers: { 200: one('The credentials.', Credentials) },
    problems: ['unknown-credentials'],
    async handle({ caller, path, services }) {
      const found = await services.credentials.find(caller, path.host);
      if (found === undefined) throw unknown(path.host);
      return found;
    },
  }),

  operation({
    ...ofHost,
    method: 'put',
    id: 'putCredentials',
    summary: 'Put in what callbacks to a host authenticate with',
    description:
      "All of the client's callbacks to the host and port, from the next attempt on, those that wait included. What was there before is gone, kinds that are left out too: there is no way to change a part, so that a token that was stolen cannot point a secret elsewhere. It is encrypted, never shown again, and masked in the delivery log. With `oauth2` it answers once the token URL has, which takes 10 seconds at most, and says what came; the credentials are stored whatever that is. A client has credentials for at most 100 hosts.",
    body: { schema: credentialsRequest, shown: shownRequest, isUnjudged: true },
    answers: {
      200: one('They are in the place of others.', Credentials, byHost('/host')),
      201: one('They are there.', Credentials, byHost('/host')),
    },
    problems: ['too-many-credentials'],
    async handle({ caller, path, body, services: { credentials, callbackRules: rules, redis } }) {
      const refusal = findHostRefusal(path.host, rules);
      if (refusal !== null) throw invalidHost(refusal);
      const given = await readCredentialsRequest(body, { rules, nowMs: Date.now() });
      const done = await credentials.put(caller, { host: path.host, ...given });
      if (done === undefined) throw new Problem('too-many-credentials', TOO_MANY);
      const needsToken = given.credentials.oauth2 !== undefined;
      const check = { guid: done.guid, callbackUrl: `https://${path.host}/` };
      const token = needsToken ? await checkToken(redis, check) : undefined;
      return new Replied(done.isNew ? 201 : 200, { ...done.put, token });
    },
  }),

  operation({
    ...ofHost,
    method: 'delete',
    id: 'deleteCredentials',
    summary: 'Have callbacks to a host without credentials',
    description: 'From the next attempt on.',
    body: noBody,
    answers: { 204: nothing('There are none any more.') },
    problems: ['unknown-credentials'],
    async handle({ caller, path, services }) {
      if (!(await services.credentials.remove(caller, path.host))) throw unknown(path.host);
    },
  }),
];

/** Says what to give where a URL is in the place of a host. */
export function urlsForHosts(): Router {
  return Router({ caseSensitive: true }).all('/v1/credentials/*url', () => {
    throw new Problem('unknown-path', 'Give the host of your callback URL alone: /v1/credentials/receiver.example.com');
  });
}

const TOO_MANY = `A client has credentials for at most ${MOST_HOSTS} hosts: DELETE those that are no longer used.`;

const invalidHost = (detail: string): Problem => invalidParameters([{ parameter: 'host', detail }]);

const unknown = (named: string): Problem =>
  new Problem(
    'unknown-credentials',
    `This client has none for ${named}: GET /v1/credentials has the hosts that it has some for.`,
  );

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
