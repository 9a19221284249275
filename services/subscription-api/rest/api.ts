import type { Interface } from '@waybell/catalog/action';
import type { Express } from 'express';
import { byHandRoutes } from './by-hand.ts';
import { carrierRoutes } from './carrier.ts';
import { deliveryLogRoutes } from './delivery-log.ts';
import { documentRoutes, publicDocuments } from './documents.ts';
import { createHttpApp, type HttpAppOptions } from './http-app.ts';
import type { RouteOptions } from './routes.ts';
import { signingSecretRoutes } from './signing-secrets.ts';
import { shipperRoutes } from './shipper.ts';
import { subscriptionRoutes } from './subscriptions.ts';

export type ApiOptions = RouteOptions & Omit<HttpAppOptions, 'overview'> & { interfaces: readonly string[] };

const ROUTES = { shipper: shipperRoutes, carrier: carrierRoutes } satisfies Record<Interface, unknown>;

/** The REST interface: both interfaces' endpoints, or those of the ones named. */
export function createApi(options: ApiOptions): Express {
  const { catalog } = options;
  const served = (['shipper', 'carrier'] as const).filter((name) => options.interfaces.includes(name));
  return createHttpApp({ ...options, overview: '/docs' }, (authenticate) => [
    ...served.map((name) => ROUTES[name]({ ...options, authenticate })),
    subscriptionRoutes({ ...options, authenticate }),
    signingSecretRoutes({ ...options, authenticate }),
    deliveryLogRoutes({ ...options, authenticate }),
    byHandRoutes({ ...options, authenticate }),
    documentRoutes(publicDocuments({ interfaces: served, catalog })),
  ]);
}
