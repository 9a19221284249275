import { adminSchemas } from '@waybell/contracts/openapi/admin-document';
import { operatorDeliveryParameters } from '@waybell/contracts/openapi/admin-log-paths';
import { findDeliveries } from '@waybell/delivery-log/read/find-deliveries';
import { Router } from 'express';
import type { Database } from '../../database.ts';
import type { Authenticate } from '../authentication/authenticate.ts';
import { askByKind } from '../deliveries/ask-by-kind.ts';
import { filterOf, type FilterQuery } from '../deliveries/delivery-filter.ts';
import { pageView, pagingOf } from '../deliveries/page.ts';
import { queryReader } from '../http/read-query.ts';
import { addPath } from '../http/routes.ts';
import { admitOperator } from './admit-operator.ts';
import { requireKnown, viewsOf } from './operator-log.ts';

const readQuery = queryReader<FilterQuery & { account?: string; client?: string; listeners?: boolean }>(
  operatorDeliveryParameters,
  adminSchemas,
);

type OperatorDeliveriesOptions = { authenticate: Authenticate; database: Pick<Database, 'askLog'> };

/** Deliveries of all accounts, by the functions that find a client's. */
export function operatorDeliveriesRoutes({ authenticate, database }: OperatorDeliveriesOptions): Router {
  const router = Router({ caseSensitive: true });
  addPath(router, ['/v1/admin/deliveries'], {
    async get(request, response) {
      await admitOperator(authenticate, request);
      const { account, client, listeners: withListeners, ...query } = readQuery(request);
      const filter = { ...filterOf(query), account: account?.toLowerCase(), client };
      const named = { key: filter.about?.key, kind: query.kind };
      const answer = await askByKind(database, named, async (postgres) => {
        await requireKnown(postgres, filter.account);
        const page = await findDeliveries(postgres, { reader: 'operator', filter, withListeners, ...pagingOf(query) });
        return pageView(page, (await viewsOf(postgres, page.entries)).delivery);
      });
      response.json(answer);
    },
  });
  return router;
}
