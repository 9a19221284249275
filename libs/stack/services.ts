/**
 * The parts of its stack that a service needs: the servers' addresses, as itself or as an operator, and the keys for secrets at
 * rest.
 */
export const NEEDS = ['AMQP_URL', 'ADMIN_AMQP_URL', 'DATABASE_URL', 'REDIS_URL', 'SECRET_KEYS'] as const;

export type Need = (typeof NEEDS)[number];

export type StackService = {
  /** Its folder under services/. */
  name: string;
  needs: Need[];
  /** The role that it takes on in Postgres; the owner of the tables has none. */
  databaseRole?: string;
  /** Reads and checks its settings; loaded only where asked for, as most commands start without. */
  config: () => Promise<{ readConfig: (env: NodeJS.ProcessEnv) => unknown }>;
  /** Whether clients call it: then it has an address in addition to the one for health. */
  isApi?: true;
};

/** Every service, each run as a process of its own. */
export const services: readonly StackService[] = [
  {
    name: 'subscription-api',
    needs: ['ADMIN_AMQP_URL', 'DATABASE_URL', 'REDIS_URL', 'SECRET_KEYS'],
    isApi: true,
    config: () => import('@waybell/subscription-api/config'),
  },
  {
    name: 'event-router',
    needs: ['AMQP_URL', 'DATABASE_URL', 'REDIS_URL'],
    databaseRole: 'waybell_router',
    config: () => import('@waybell/event-router/config'),
  },
  {
    name: 'deliverer',
    needs: ['AMQP_URL', 'DATABASE_URL', 'REDIS_URL', 'SECRET_KEYS'],
    databaseRole: 'waybell_deliverer',
    config: () => import('@waybell/deliverer/config'),
  },
  {
    name: 'location-tracker',
    needs: ['AMQP_URL', 'DATABASE_URL', 'REDIS_URL'],
    databaseRole: 'waybell_tracker',
    config: () => import('@waybell/location-tracker/config'),
  },
  {
    name: 'deactivator',
    needs: ['AMQP_URL', 'DATABASE_URL'],
    databaseRole: 'waybell_deactivator',
    config: () => import('@waybell/deactivator/config'),
  },
  {
    name: 'delivery-log',
    needs: ['AMQP_URL', 'DATABASE_URL'],
    databaseRole: 'waybell_log',
    config: () => import('@waybell/delivery-log-service/config'),
  },
];

export const serviceNames: readonly string[] = services.map(({ name }) => name);
