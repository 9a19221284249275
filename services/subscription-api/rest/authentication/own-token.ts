/** Routes about a caller's token: its owner and rights, and the exchange of a link to the console for one. */
import { Router } from 'express';
import { newConsoleSession } from '../../operations/access-paths.ts';
import { openConsoleLink } from '../../console-links.ts';
import type { Database } from '../../database.ts';
import { bodyReader, readJson } from '../http/body.ts';
import { limitFailures, type LimitOptions } from '../http/limits.ts';
import { Problem } from '../http/problem.ts';
import { answerObject, addPath } from '../http/routes.ts';
import { requireScope, originOf, type Authenticate, type Caller } from './authenticate.ts';

/** Returns the owner and the rights of a request's token, for any valid token, whatever its scopes. */
export function ownTokenRoutes({ authenticate }: { authenticate: Authenticate }): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/token'], {
    async get(request, response) {
      const caller = await authenticate(request);
      const { interface: interfaceName, features } = caller;
      answerObject(caller, response, { interface: interfaceName, ...tokenView(caller), features });
    },
  });

  return router;
}

/** Returns the owner and the rights of an operator's token, to operators. */
export function operatorTokenRoutes({ authenticate }: { authenticate: Authenticate }): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/admin/token'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'admin');
      response.json(tokenView(caller));
    },
  });

  return router;
}

const tokenView = ({ accountGuid, accountName, clientId, scopes }: Caller) => ({
  account_guid: accountGuid,
  account_name: accountName,
  client_id: clientId,
  scopes,
});

type ConsoleSessionOptions = {
  database: Pick<Database, 'change'>;
  limits: Pick<LimitOptions, 'failuresPerMinute'>;
} & Pick<LimitOptions, 'redis' | 'log'>;

const readSession = bodyReader<{ code: string }>(newConsoleSession);

/** Exchanges links to the console for access tokens. Wrong codes count as invalid access tokens do. */
export function consoleSessionRoutes({ database, limits, redis, log }: ConsoleSessionOptions): Router {
  const router = Router({ caseSensitive: true });
  const failures = limitFailures({ ...limits, redis, log });

  addPath(router, ['/v1/console-sessions'], {
    async post(request, response) {
      await failures.requireFew(request);
      const { code } = readSession(await readJson(request, response));
      const from = originOf(request);
      const opened = await database.change({ who: 'console link', ...from }, (postgres) =>
        openConsoleLink(postgres, code, from),
      );
      if (opened === undefined) {
        await failures.note(request);
        throw new Problem('invalid-link', 'The link was opened before, or its time is over. Ask for a new one.');
      }
      response.status(201).json({ token: opened.token, expires_at: opened.expiresAt });
    },
  });

  return router;
}
