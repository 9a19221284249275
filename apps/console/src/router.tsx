import {
  createHashHistory,
  createRootRouteWithContext,
  createRoute,
  createRouter,
  lazyRouteComponent,
  notFound,
  parseSearchWith,
  redirect,
  stringifySearchWith,
} from '@tanstack/react-router';
import { DeliveryPage } from './pages/find/delivery-page.tsx';
import { FindPage } from './pages/find/find-page.tsx';
import { TimelinePage } from './pages/find/timeline-page.tsx';
import { Failed, Loading } from './parts/states.tsx';
import type { PageSettings } from './settings.ts';
import { Shell } from './shell.tsx';

/** `isOwn`: false while an operator sees the pages of a client. */
type Context = PageSettings & { isOwn: boolean };

const rootRoute = createRootRouteWithContext<Context>()({
  component: Shell,
  notFoundComponent: () => <p className="state">There is no such page.</p>,
  errorComponent: ({ error, reset }) => (
    <Failed error={error instanceof Error ? error : new Error(String(error))} retry={reset} />
  ),
  pendingComponent: () => <Loading what="the page" />,
});

const getParentRoute = () => rootRoute;

/** Pages of both views: the same filters, on either interface. */
const sharedRoutes = [
  createRoute({
    getParentRoute,
    path: '/deliveries',
    validateSearch: texts(
      'status',
      'action',
      'subscription',
      'endpoint',
      'reason',
      'key',
      'guid',
      'since',
      'until',
      'account',
      'client',
    ),
    component: lazyRouteComponent(() => import('./pages/deliveries/deliveries-page.tsx'), 'DeliveriesPage'),
  }),
] as const;

const forClients = { getParentRoute, beforeLoad: only('client') };
const forClientsAlone = {
  getParentRoute,
  beforeLoad({ context }: { context: Context }) {
    if (context.view !== 'client' || !context.isOwn) throw notFound();
  },
};
const clientRoutes = [
  createRoute({ ...forClients, path: '/find', validateSearch: texts('text'), component: FindPage }),
  createRoute({ ...forClients, path: '/timeline', validateSearch: texts('key'), component: TimelinePage }),
  // The address of earlier releases.
  createRoute({
    ...forClients,
    path: '/timeline/$key',
    beforeLoad({ params: { key } }) {
      throw redirect({ to: '/timeline', search: { key }, replace: true });
    },
  }),
  createRoute({ ...forClients, path: '/deliveries/$guid', component: DeliveryPage }),
  createRoute({
    ...forClients,
    path: '/missed',
    validateSearch: texts('since', 'until'),
    component: lazyRouteComponent(() => import('./pages/missed/missed-page.tsx'), 'MissedPage'),
  }),
  createRoute({
    ...forClients,
    path: '/subscriptions',
    validateSearch: ({ subscribe }: Record<string, unknown>): { subscribe?: string } =>
      typeof subscribe === 'string' ? { subscribe } : {},
    component: lazyRouteComponent(() => import('./pages/subscriptions/subscriptions-page.tsx'), 'SubscriptionsPage'),
  }),
  createRoute({
    ...forClients,
    path: '/live',
    component: lazyRouteComponent(() => import('./pages/live/live-page.tsx'), 'LivePage'),
  }),
  createRoute({
    ...forClientsAlone,
    path: '/secrets',
    component: lazyRouteComponent(() => import('./pages/secrets/secrets-page.tsx'), 'SecretsPage'),
  }),
  createRoute({
    ...forClientsAlone,
    path: '/credentials',
    validateSearch: texts('host'),
    component: lazyRouteComponent(() => import('./pages/credentials/credentials-page.tsx'), 'CredentialsPage'),
  }),
  createRoute({
    ...forClients,
    path: '/catalog',
    validateSearch: ({ action }: Record<string, unknown>): { action?: string } =>
      typeof action === 'string' ? { action } : {},
    component: lazyRouteComponent(() => import('./pages/catalog/catalog-page.tsx'), 'CatalogPage'),
  }),
] as const;

const forOperators = { getParentRoute, beforeLoad: only('operator') };
const operatorRoutes = [
  createRoute({
    ...forOperators,
    path: '/queues',
    component: lazyRouteComponent(() => import('./pages/operators/queues-page.tsx'), 'QueuesPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/failing',
    component: lazyRouteComponent(() => import('./pages/operators/failing-page.tsx'), 'FailingPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/switched-off',
    validateSearch: texts('since'),
    component: lazyRouteComponent(() => import('./pages/operators/switched-off-page.tsx'), 'SwitchedOffPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/stopped',
    component: lazyRouteComponent(() => import('./pages/operators/stops-page.tsx'), 'StopsPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/rejected',
    validateSearch: texts('reason', 'about'),
    component: lazyRouteComponent(() => import('./pages/operators/rejected-page.tsx'), 'RejectedPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/rejected/$id',
    component: lazyRouteComponent(() => import('./pages/operators/correct-page.tsx'), 'CorrectPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/accounts',
    component: lazyRouteComponent(() => import('./pages/operators/accounts-page.tsx'), 'AccountsPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/accounts/$guid',
    component: lazyRouteComponent(() => import('./pages/operators/account-page.tsx'), 'AccountPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/audit',
    validateSearch: texts('account', 'subscription', 'since'),
    component: lazyRouteComponent(() => import('./pages/operators/audit-page.tsx'), 'AuditPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/why',
    validateSearch: texts('text', 'as', 'kind'),
    component: lazyRouteComponent(() => import('./pages/operators/why-page.tsx'), 'WhyPage'),
  }),
  createRoute({
    ...forOperators,
    path: '/why/$text',
    validateSearch: texts('as', 'kind'),
    beforeLoad({ params: { text }, search }) {
      throw redirect({ to: '/why', search: { ...search, text }, replace: true });
    },
  }),
] as const;

/** Reads the parameters of the address by name, as texts. */
function texts<Name extends string>(...names: Name[]) {
  return (search: Record<string, unknown>): { [N in Name]?: string } => {
    const given = names.flatMap((name) => {
      const value = search[name];
      return typeof value === 'string' || typeof value === 'number' ? [[name, String(value)]] : [];
    });
    // Drops parameters with other names.
    return Object.fromEntries(given) as { [N in Name]?: string };
  };
}

const ClientOverview = lazyRouteComponent(() => import('./pages/overview/client-overview.tsx'), 'ClientOverview');
const OperatorOverview = lazyRouteComponent(() => import('./pages/overview/operator-overview.tsx'), 'OperatorOverview');

const homeRoute = createRoute({ getParentRoute, path: '/', component: Home });

function Home() {
  const { view } = homeRoute.useRouteContext();
  return view === 'operator' ? <OperatorOverview /> : <ClientOverview />;
}

/** The pages of a view exist in that view only: the other one has another listener. */
function only(view: PageSettings['view']) {
  return ({ context }: { context: PageSettings }) => {
    if (context.view !== view) throw notFound();
  };
}

/**
 * `basepath`: where the pages are, if not at the root. Their addresses lie behind the #: no server sees what is shown, and the page
 * works under any path.
 */
export function routerFor(settings: PageSettings, basepath = '/') {
  return createRouter({
    routeTree: rootRoute.addChildren([homeRoute, ...sharedRoutes, ...clientRoutes, ...operatorRoutes]),
    context: { ...settings, isOwn: basepath === '/' },
    basepath,
    history: createHashHistory(),
    // Everything stays a text: the number of an order keeps its last digit.
    parseSearch: parseSearchWith(String),
    stringifySearch: stringifySearchWith(String),
    defaultPreload: 'intent',
    scrollRestoration: true,
  });
}

declare module '@tanstack/react-router' {
  interface Register {
    router: ReturnType<typeof routerFor>;
  }
}
