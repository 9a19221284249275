import type { Action, Interface } from '@waybell/catalog/action';
import { interfaceSchemas } from '@waybell/contracts/openapi/components';
import { deliveryParameters } from '@waybell/contracts/openapi/delivery-log-paths';
import { normalizedKey } from '@waybell/events/keys';
import { momentOf } from '@waybell/events/timestamp';
import type { Request } from 'express';
import { queryReader } from '../http/read-query.ts';
import { pagingOf, type PagingQuery } from './page.ts';
import { pullRequestOf, type PullQuery } from './pull-request.ts';

type FilterQuery = PagingQuery &
  PullQuery & {
    key?: string;
    kind?: string;
    since?: string;
    until?: string;
  };

/** Reads which deliveries of an interface are asked for, as a list or, with `pull`, in the order of the log. Throws a Problem (422) that names everything wrong with the query. */
export function filterReader(interfaceName: Interface, catalog: readonly Action[]) {
  const read = queryReader<FilterQuery>(deliveryParameters([interfaceName]), interfaceSchemas(interfaceName, catalog));
  return (request: Request) => {
    const query = read(request);
    const pull = pullRequestOf(query);
    const { key, kind, since, until, limit, cursor, action, status, reason } = query;
    const filter = {
      action,
      status,
      reason,
      about: key === undefined ? undefined : { key: normalizedKey(key), kind },
      since: since === undefined ? undefined : momentOf(since),
      until: until === undefined ? undefined : momentOf(until),
    };
    return { pull, filter, kind, paging: pagingOf({ limit, ...(cursor === undefined ? {} : { cursor }) }) };
  };
}
