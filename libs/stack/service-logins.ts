import pg from 'pg';
import { services, type Service } from './services.ts';
import { brokerUser } from '@waybell/line/permissions';
import type { Servers } from './servers.ts';

/**
 * The servers' addresses as that service has them: it logs in as itself, with no more rights than it needs. Where a server
 * is somebody's, it logs in as the caller does, and takes on its role in Postgres.
 */
export function loginsOf(service: Service, { environment, sources }: Servers): Record<string, string> {
  const { AMQP_URL = '', DATABASE_URL = '' } = environment;
  const { name, databaseRole = '' } = service;
  return {
    ...environment,
    AMQP_URL: sources.rabbitmq?.from === 'address' ? AMQP_URL : as(brokerUser(name), AMQP_URL),
    ...(sources.postgres?.from === 'address' || databaseRole === ''
      ? { DATABASE_URL, DATABASE_ROLE: databaseRole }
      : { DATABASE_URL: as(databaseRole, DATABASE_URL), DATABASE_ROLE: '' }),
  };
}

/** Lets the services log in to Postgres as the roles that the migrations made, with the owner's password. */
export async function allowLogins({ environment, sources }: Servers): Promise<void> {
  // Who lends has seen to it.
  if (sources.postgres?.from === 'address' || sources.postgres?.from === 'lent') return;
  const { DATABASE_URL = '' } = environment;
  const owner = new pg.Client({ connectionString: DATABASE_URL });
  await owner.connect();
  try {
    const password = owner.escapeLiteral(decodeURIComponent(new URL(DATABASE_URL).password));
    for (const { databaseRole } of services) {
      if (databaseRole !== undefined) await owner.query(`alter role ${databaseRole} login password ${password}`);
    }
  } finally {
    await owner.end();
  }
}

function as(user: string, url: string): string {
  const address = new URL(url);
  address.username = user;
  return address.href;
}
