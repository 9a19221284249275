import { Router, type Request } from 'express';
import type { Action, Interface } from '@waybell/catalog/action';
import { nearestNames } from '@waybell/catalog/names';
import { liveKind, type LiveKind } from '../../operations/live-paths.ts';
import { requireScope } from '../authentication/authenticate.ts';
import { boundByReading } from '../http/limits.ts';
import { invalidParameters, queryReader } from '../http/read-query.ts';
import { addPath, type RouteOptions } from '../http/routes.ts';
import { endWithToken, type KnowingAgain } from './event-stream.ts';
import type { LiveFilter } from './live.ts';
import { FeedPosition, POSITION_PATTERN } from './position.ts';

export type LiveRouteOptions = Pick<RouteOptions, 'authenticate' | 'catalog' | 'live'> & KnowingAgain;

/** The live feed of the token's account and client. */
export function liveRoutes({ authenticate, catalog, live, ...again }: LiveRouteOptions): Router {
  const router = Router({ caseSensitive: true });
  const readFilter = { shipper: filterReader('shipper', catalog), carrier: filterReader('carrier', catalog) };

  addPath(router, ['/v1/live'], {
    async get(request, response) {
      const caller = await authenticate(request);
      requireScope(caller, 'webhooks:read');
      const filter = readFilter[caller.interface](request);
      const position = positionOf(request);
      if (request.method === 'HEAD') return void response.type('text/event-stream').end();
      const reader = { account: caller.accountGuid, client: caller.clientId, interface: caller.interface };
      boundByReading(response);
      const stream = live.open({ reader, filter, position, response });
      endWithToken(stream, { request, caller, scope: 'webhooks:read', ...again });
    },
  });

  return router;
}

const NEAREST = 3;
const kindParameter = { name: 'kind', schema: liveKind };
const actionParameter = { name: 'action', schema: { type: 'string', maxLength: 100 } };

/** Reads a filter of the feed. Throws a Problem (422), which names the nearest actions if there is no such one. */
function filterReader(interfaceName: Interface, catalog: readonly Action[]) {
  const names = catalog.filter((action) => action.interface === interfaceName).map(({ name }) => name);
  const read = queryReader<{ action?: string; kind?: LiveKind }>([actionParameter, kindParameter]);
  return (request: Request): LiveFilter => {
    const filter = read(request);
    const { action } = filter;
    if (action === undefined || names.includes(action)) return filter;
    const detail = `must be an action of the ${interfaceName} interface; the nearest are: ${nearestNames(action, names, NEAREST).join(', ')}`;
    throw invalidParameters([{ parameter: 'action', detail }]);
  };
}

function positionOf(request: Request): FeedPosition {
  const given = request.headersDistinct['last-event-id'];
  if (given === undefined) return new FeedPosition(Date.now());
  const id = given.join(', ');
  if (new RegExp(POSITION_PATTERN).test(id)) return FeedPosition.read(id, Date.now());
  const detail = 'must be the id of an event of this feed; leave the header out to begin now';
  throw invalidParameters([{ parameter: 'Last-Event-ID', detail }]);
}
