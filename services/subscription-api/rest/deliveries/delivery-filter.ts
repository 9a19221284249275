import type { Action, Interface } from '@waybell/catalog/action';
import { interfaceSchemas } from '@waybell/contracts/openapi/components';
import { deliveryParameters } from '@waybell/contracts/openapi/delivery-log-paths';
import { readEndpoint, type EndpointFilter } from '@waybell/delivery-log/read/endpoint-filter';
import type { DeliveryStatus } from '@waybell/delivery-log/read/entries';
import type { DeliveryFilter } from '@waybell/delivery-log/read/find-deliveries';
import { normalizedKey } from '@waybell/events/keys';
import { momentOf } from '@waybell/events/timestamp';
import type { Request } from 'express';
import { invalidParameters, queryReader } from '../http/read-query.ts';
import { pagingOf, type PagingQuery } from './page.ts';
import { pullRequestOf, type PullQuery } from './pull-request.ts';

/** Parameters that say which deliveries are asked for. */
export type FilterQuery = PagingQuery & {
  key?: string;
  kind?: string;
  guid?: string;
  action?: string;
  status?: DeliveryStatus[];
  reason?: string;
  subscription?: string;
  endpoint?: string;
  since?: string;
  until?: string;
};

/** Reads which deliveries of an interface are asked for, as a list or, with `pull`, in the order of the log. Throws a Problem (422) that names everything wrong with the query. */
export function filterReader(interfaceName: Interface, catalog: readonly Action[]) {
  const read = queryReader<FilterQuery & PullQuery>(
    deliveryParameters([interfaceName]),
    interfaceSchemas(interfaceName, catalog),
  );
  return (request: Request) => {
    const query = read(request);
    const pull = pullRequestOf(query);
    return { pull, filter: filterOf(query), kind: query.kind, paging: pagingOf(query) };
  };
}

/** Throws a Problem (422) where `endpoint` names no host. */
export function filterOf(query: FilterQuery): DeliveryFilter {
  const { key, kind, guid, since, until, action, status, reason, subscription, endpoint } = query;
  return {
    action,
    statuses: status,
    reason,
    guid: guid?.toLowerCase(),
    subscription: subscription?.toLowerCase(),
    endpoint: endpoint === undefined ? undefined : endpointOf(endpoint),
    about: key === undefined ? undefined : { key: normalizedKey(key), kind },
    since: since === undefined ? undefined : momentOf(since),
    until: until === undefined ? undefined : momentOf(until),
  };
}

function endpointOf(text: string): EndpointFilter {
  const endpoint = readEndpoint(text);
  if (endpoint !== undefined) return endpoint;
  const detail = 'must be a host, also with its port, an origin or a URL, such as https://receiver.example.com/hooks';
  throw invalidParameters([{ parameter: 'endpoint', detail }]);
}
