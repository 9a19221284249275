import { Router } from 'express';
import { requireScope } from '../authentication/authenticate.ts';
import { answerFor } from '../http/answer-for.ts';
import { readNoQuery } from '../http/read-query.ts';
import { addPath, type RouteOptions } from '../http/routes.ts';
import { countHours, HOUR_MS, type Statistics } from './count-hours.ts';
import { moment } from './history-view.ts';

type StatisticsOptions = Pick<RouteOptions, 'authenticate' | 'database' | 'catalog'>;

/** Counts of a client's deliveries in the last day, for charts: the same on either interface. */
export function statisticsRoutes({ authenticate, database, catalog }: StatisticsOptions): Router {
  const router = Router({ caseSensitive: true });
  const count = countHours();

  addPath(router, ['/v1/statistics'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      readNoQuery(request);
      const reader = { account: caller.accountGuid, client: caller.clientId, interface: caller.interface };
      const actions = catalog.filter((each) => each.interface === caller.interface).map(({ name }) => name);
      const asked = { reader, actions, now: Date.now() };
      answerFor(caller, response, view(await database.askLog((postgres) => count(postgres, asked))));
    },
  });

  return router;
}

function view({ since, until, actions }: Statistics) {
  return {
    since: moment(since),
    until: moment(until),
    bucket_seconds: HOUR_MS / 1_000,
    objects: actions.map(({ action, buckets }) => ({
      action,
      buckets: buckets.map(({ at, ...counts }) => ({ at: moment(at), ...counts })),
    })),
  };
}
