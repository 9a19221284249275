import { Router, type Request } from 'express';
import { stopRequest } from '../../operations/admin-stop-paths.ts';
import type { Queryable } from '@waybell/runtime/postgres';
import { hostNamed } from '../../callback-url.ts';
import type { Database } from '../../database.ts';
import { listStops, startHost, startSubscription, stopHost, stopSubscription, type StoppedHost } from '../../stops.ts';
import { admitOperator, type Authenticate } from '../authentication/authenticate.ts';
import { bodyReader, readJson, readNothing } from '../http/body.ts';
import { invalidParameters, readNoQuery, requirePathGuid } from '../http/read-query.ts';
import { addPath, type GuidParams } from '../http/routes.ts';
import { viewsOf } from './operator-log.ts';
import { stopView } from './operator-views.ts';

type StopsOptions = { authenticate: Authenticate; database: Pick<Database, 'askLog' | 'change'> };
type HostParams = { host: string };

const readStop = bodyReader<{ reason: string }>(stopRequest);

/**
 * Stops and starts subscriptions and hosts; the same as `./waybell subscription stop` and `./waybell host`, by the same
 * functions.
 */
export function stopRoutes({ authenticate, database }: StopsOptions): Router {
  const router = Router({ caseSensitive: true });

  /** The audit log names the operator for each change. */
  async function admit(request: Request) {
    const actor = await admitOperator(authenticate, request);
    return <T>(work: (postgres: Queryable) => Promise<T>) => database.change(actor, work);
  }

  addPath(router, ['/v1/admin/stops'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      readNoQuery(request);
      const stops = await database.askLog(async (postgres) => {
        const { subscriptions, hosts } = await listStops(postgres);
        const views = await viewsOf(postgres, subscriptions);
        return { subscriptions: subscriptions.map(views.subscription), hosts: hosts.map(hostView) };
      });
      response.json(stops);
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/subscriptions/:guid/stop'], {
    async post(request, response) {
      const run = await admit(request);
      const guid = requirePathGuid('guid', request.params.guid);
      const { reason } = readStop(await readJson(request, response));
      response.json(
        await run(async (postgres) => {
          const entry = await stopSubscription(postgres, { guid, reason });
          return (await viewsOf(postgres, [entry])).subscription(entry);
        }),
      );
    },
  });

  addPath<GuidParams>(router, ['/v1/admin/subscriptions/:guid/start'], {
    async post(request, response) {
      const run = await admit(request);
      const guid = requirePathGuid('guid', request.params.guid);
      await readNothing(request, response);
      response.json(
        await run(async (postgres) => {
          const entry = await startSubscription(postgres, guid);
          return (await viewsOf(postgres, [entry])).subscription(entry);
        }),
      );
    },
  });

  addPath<HostParams>(router, ['/v1/admin/hosts/:host/stop'], {
    async post(request, response) {
      const run = await admit(request);
      const host = requireHost(request);
      const { reason } = readStop(await readJson(request, response));
      response.json(hostView(await run((postgres) => stopHost(postgres, { host, reason }))));
    },
  });

  addPath<HostParams>(router, ['/v1/admin/hosts/:host/start'], {
    async post(request, response) {
      const run = await admit(request);
      const host = requireHost(request);
      await readNothing(request, response);
      await run((postgres) => startHost(postgres, host));
      response.status(204).end();
    },
  });

  return router;
}

function requireHost({ params }: Request<HostParams>): string {
  const host = hostNamed(params.host);
  if (host !== undefined) return host;
  throw invalidParameters([
    { parameter: 'host', detail: 'must be a host such as receiver.example.com, without a port' },
  ]);
}

const hostView = ({ host, subscriptions, ...stop }: StoppedHost) => ({ host, ...stopView(stop), subscriptions });
