import { setTimeout as sleep } from 'node:timers/promises';
import { Router, type Request } from 'express';
import {
  TOKEN_CHECK_MS,
  TOKEN_CHECKS,
  tokenCheckKey,
  type TokenCheck,
  type TokenCheckResult,
} from '@waybell/notifications/receiver-credentials';
import type { Redis } from '@waybell/runtime/redis';
import { findHostRefusal, readCallbackHost } from '../../callback-url.ts';
import { MOST_HOSTS, type HostCredentials } from '../../receiver-credentials.ts';
import type { Scope } from '../../tokens.ts';
import { requireScope } from '../authentication/authenticate.ts';
import { answerFor, answerObject } from '../http/answer-for.ts';
import { readJson, readNothing } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { invalidParameters } from '../http/read-query.ts';
import { addPath, type RouteOptions } from '../http/routes.ts';
import { readCredentialsRequest } from './credentials-request.ts';

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

const LOOK_MS = 50;
/** A deliverer has taken it after so many. */
const LOOKS_UNTIL_TAKEN = 40;
const NOT_TRIED: TokenCheckResult = { status: 'not_tried' };

/**
 * Has a deliverer fetch a token for credentials that were just put in: token URLs know its addresses, not this process'. Resolves with
 * what came, within twenty seconds; `not_tried` where no deliverer or no Redis is there. Never rejects.
 */
async function checkToken(redis: Redis, check: TokenCheck): Promise<TokenCheckResult> {
  const asked = JSON.stringify(check);
  try {
    await redis.multi().rpush(TOKEN_CHECKS, asked).pexpire(TOKEN_CHECKS, TOKEN_CHECK_MS).exec();
    for (let looks = 1; looks <= TOKEN_CHECK_MS / LOOK_MS; looks += 1) {
      await sleep(LOOK_MS);
      const result = await redis.get(tokenCheckKey(check.guid));
      // Only deliverers write it.
      if (result !== null) return JSON.parse(result) as TokenCheckResult;
      if (looks === LOOKS_UNTIL_TAKEN && (await redis.lrem(TOKEN_CHECKS, 1, asked)) > 0) return NOT_TRIED;
    }
  } catch {
    // Redis is away, which readiness tells.
  }
  return NOT_TRIED;
}
