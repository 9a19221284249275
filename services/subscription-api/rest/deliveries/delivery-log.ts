import { Router, type Request } from 'express';
import { keyInQuery, timelineParameters } from '../../operations/delivery-log-paths.ts';
import { bodyOf } from '@waybell/delivery-log/read/bodies';
import type { ClientReader } from '@waybell/delivery-log/read/entries';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { deliveryHistory, timelineOf } from '@waybell/delivery-log/read/history';
import { requireScope, type Caller } from '../authentication/authenticate.ts';
import { Problem } from '../http/problem.ts';
import {
  pageView,
  pagingOf,
  queryReader,
  readNoQuery,
  requireKey,
  requirePathGuid,
  type PagingQuery,
} from '../http/read-query.ts';
import { answerFor, answerObject, addPath, type RouteOptions } from '../http/routes.ts';
import { askByKind, filterReader } from './delivery-filter.ts';
import { deliveryDetailView, deliveryView, eventView } from './history-view.ts';
import { sentRequest } from '../../operations/sent-request.ts';
import { pullPage } from './pull.ts';

type TimelineQuery = PagingQuery & { kind?: string };

const readTimelineQuery = queryReader<TimelineQuery>(timelineParameters);
const readKeyedQuery = queryReader<TimelineQuery & { key?: string }>([keyInQuery, ...timelineParameters]);

type DeliveryLogRouteOptions = Pick<RouteOptions, 'authenticate' | 'database' | 'catalog' | 'awaiting'>;

/** Events and deliveries of the token's account and client; the same on either interface. */
export function deliveryLogRoutes({ authenticate, database, catalog, awaiting }: DeliveryLogRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  const readFilter = { shipper: filterReader('shipper', catalog), carrier: filterReader('carrier', catalog) };

  async function admit(request: Request): Promise<ClientReader & Caller> {
    const caller = await authenticate(request);
    requireScope(caller, 'webhooks:read');
    return { ...caller, account: caller.accountGuid, client: caller.clientId };
  }

  const timeline = async (about: { key: string; kind: string | undefined }, reader: ClientReader, query: PagingQuery) =>
    pageView(
      await askByKind(database, about, (postgres) => timelineOf(postgres, { about, reader, ...pagingOf(query) })),
      eventView,
    );

  addPath(router, ['/v1/timeline'], {
    async get(request, response) {
      const reader = await admit(request);
      const { key: text = '', kind, ...query } = readKeyedQuery(request);
      answerFor(reader, response, await timeline({ key: requireKey('key', text), kind }, reader, query));
    },
  });

  addPath<{ key: string }>(router, ['/v1/timeline/:key'], {
    async get(request, response) {
      const reader = await admit(request);
      const key = requireKey('key', request.params.key);
      const { kind, ...query } = readTimelineQuery(request);
      answerFor(reader, response, await timeline({ key, kind }, reader, query));
    },
  });

  addPath(router, ['/v1/deliveries'], {
    async get(request, response) {
      const reader = await admit(request);
      const { pull, paging, filter, kind } = readFilter[reader.interface](request);
      if (pull !== undefined)
        return answerFor(reader, response, await pullPage({ database, awaiting, reader, pull }, response));
      const named = { key: filter.about?.key, kind };
      const page = await askByKind(database, named, (postgres) =>
        findDeliveries(postgres, { reader, filter, ...paging }),
      );
      answerFor(reader, response, pageView(page, deliveryView));
    },
  });

  addPath<{ guid: string }>(router, ['/v1/deliveries/:guid'], {
    async get(request, response) {
      const reader = await admit(request);
      const delivery = requirePathGuid('guid', request.params.guid);
      readNoQuery(request);
      const { entry, body } = await findDelivery(database, delivery, { ...reader, withListeners: true });
      const object = deliveryDetailView(entry, sentRequest(entry, body));
      answerObject(reader, response, object);
    },
  });

  return router;
}

/** Finds a client's delivery. Throws a Problem (404) if there is none, or if it is another client's. */
async function findDelivery(database: DeliveryLogRouteOptions['database'], delivery: string, reader: ClientReader) {
  const found = await database.askLog(async (postgres) => {
    const entry = await deliveryHistory(postgres, { delivery }, reader);
    return entry && { entry, body: await bodyOf(postgres, delivery) };
  });
  if (found !== undefined) return found;
  throw new Problem('unknown-delivery', 'This client has no delivery of that guid, or it is no longer kept.');
}
