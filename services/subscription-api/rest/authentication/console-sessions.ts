import { newConsoleSession } from '@waybell/contracts/openapi/console-link-paths';
import { Router } from 'express';
import { openConsoleLink } from '../../console-links.ts';
import type { Database } from '../../database.ts';
import { bodyReader, readJson } from '../http/body.ts';
import { Problem } from '../http/problem.ts';
import { addPath } from '../http/routes.ts';
import { limitFailures, type LimitOptions } from '../limits/limits.ts';
import { originOf } from './authenticate.ts';

type ConsoleSessionOptions = {
  database: Pick<Database, 'change'>;
  limits: Pick<LimitOptions, 'failuresPerMinute'>;
} & Pick<LimitOptions, 'redis' | 'log'>;

const readSession = bodyReader<{ code: string }>(newConsoleSession);

/** Exchanges links to the console for access tokens. Codes that are wrong count as access tokens that are. */
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
