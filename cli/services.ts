/** What a service needs of its stack: the servers' addresses and the keys for secrets at rest. */
export type Need = 'AMQP_URL' | 'DATABASE_URL' | 'REDIS_URL' | 'SECRET_KEYS';

export type Service = {
  /** Its folder under services/. */
  name: string;
  needs: Need[];
  /** The role that it takes on in Postgres; the owner of the tables has none. */
  databaseRole?: string;
  /** Whether clients call it: then it has an address beside the one for health. */
  isApi?: true;
};

/** Every service, each run as a process of its own. */
export const services: readonly Service[] = [
  { name: 'subscription-api', needs: ['DATABASE_URL', 'SECRET_KEYS'], isApi: true },
  { name: 'event-router', needs: ['AMQP_URL', 'DATABASE_URL', 'REDIS_URL'], databaseRole: 'waybell_router' },
  {
    name: 'deliverer',
    needs: ['AMQP_URL', 'DATABASE_URL', 'REDIS_URL', 'SECRET_KEYS'],
    databaseRole: 'waybell_deliverer',
  },
  { name: 'deactivator', needs: ['AMQP_URL', 'DATABASE_URL'], databaseRole: 'waybell_deactivator' },
];
