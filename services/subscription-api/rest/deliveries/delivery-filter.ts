import type { Action, Interface } from '@waybell/catalog/action';
import { interfaceSchemas } from '@waybell/contracts/openapi/components';
import { deliveryParameters } from '@waybell/contracts/openapi/delivery-log-paths';
import { normalizedKey } from '@waybell/events/keys';
import { momentOf } from '@waybell/events/timestamp';
import type { DeliveryStatus } from '@waybell/delivery-log/read/entries';
import type { Request } from 'express';
import { queryReader } from '../http/read-query.ts';
import { pagingOf, type PagingQuery } from './page.ts';

type FilterQuery = PagingQuery & {
  key?: string;
  kind?: string;
  action?: string;
  status?: DeliveryStatus;
  reason?: string;
  since?: string;
  until?: string;
};

/** Reads which deliveries of an interface are asked for. Throws a Problem (422) that names everything wrong with the query. */
export function filterReader(interfaceName: Interface, catalog: readonly Action[]) {
  const read = queryReader<FilterQuery>(deliveryParameters([interfaceName]), interfaceSchemas(interfaceName, catalog));
  return (request: Request) => {
    const { key, kind, since, until, limit, cursor, ...others } = read(request);
    const filter = {
      ...others,
      about: key === undefined ? undefined : { key: normalizedKey(key), kind },
      since: since === undefined ? undefined : momentOf(since),
      until: until === undefined ? undefined : momentOf(until),
    };
    return { filter, kind, paging: pagingOf({ limit, ...(cursor === undefined ? {} : { cursor }) }) };
  };
}
