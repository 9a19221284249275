import { Router } from 'express';
import { missedParameters } from '../../operations/missed-paths.ts';
import { momentOf } from '@waybell/events/timestamp';
import { missedByAction, type MissedOfAction } from '../../by-hand/missed-by-action.ts';
import { clientOf, requireScope } from '../authentication/authenticate.ts';
import { invalidParameters, queryReader } from '../http/read-query.ts';
import { answerFor, addPath, type RouteOptions } from '../http/routes.ts';

import { moment } from './history-view.ts';

const DAY_MS = 86_400_000;

const readRange = queryReader<{ since?: string; until?: string }>(missedParameters);

/** A client's missed events in a time range, over all its actions: the same on either interface. */
export function missedRoutes({ authenticate, database }: Pick<RouteOptions, 'authenticate' | 'database'>): Router {
  const router = Router({ caseSensitive: true });

  addPath(router, ['/v1/missed'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      const { since, until } = readRange(request);
      const untilMs = until === undefined ? Date.now() : momentOf(until);
      const sinceMs = since === undefined ? untilMs - DAY_MS : momentOf(since);
      if (sinceMs >= untilMs) throw invalidParameters([{ parameter: 'since', detail: 'must be before until' }]);
      const range = { client: clientOf(caller), sinceMs, untilMs };
      const { actions, countedUntilMs } = await database.askLog((postgres) => missedByAction(postgres, range));
      answerFor(caller, response, {
        since: moment(sinceMs),
        until: moment(untilMs),
        counted_until: countedUntilMs === null ? null : moment(countedUntilMs),
        objects: actions.map(view),
      });
    },
  });

  return router;
}

function view({ subscription, isActive, ...counts }: MissedOfAction) {
  const { action, exhausted, dropped, suppressed, gone, reasons } = counts;
  return {
    action,
    subscription_guid: subscription,
    is_active: isActive,
    exhausted,
    dropped,
    suppressed,
    gone,
    reasons,
  };
}
