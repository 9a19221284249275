import pg from 'pg';
import { brokerUser } from '@waybell/line/line-topology';
import { asUser, passwordOf } from '@waybell/runtime/local-passwords';
import type { Servers } from './servers.ts';
import { services, type StackService } from './services.ts';

type Addresses = Pick<Servers, 'environment' | 'sources'>;

/**
 * The servers' addresses as that service has them: it logs in as itself, with no more rights than it needs. Where a server
 * is another owner's, it logs in as the caller does, and takes on its role in Postgres.
 */
export function loginsOf(service: StackService, { environment, sources }: Addresses): Record<string, string> {
  const { AMQP_URL = '', DATABASE_URL = '' } = environment;
  const { name, databaseRole = '' } = service;
  const brokerAs = (user: string) =>
    sources.rabbitmq?.from === 'address' ? AMQP_URL : asUser(brokerUser(user), AMQP_URL);
  return {
    ...environment,
    AMQP_URL: brokerAs(name),
    ADMIN_AMQP_URL: brokerAs('operator'),
    ...(sources.postgres?.from === 'address' || databaseRole === ''
      ? { DATABASE_URL, DATABASE_ROLE: databaseRole }
      : { DATABASE_URL: asUser(databaseRole, DATABASE_URL), DATABASE_ROLE: '' }),
  };
}

/** Lets the services, and no other user but the owner, log in to the database, as the roles that the migrations made. */
export async function allowLogins({ environment, sources }: Addresses): Promise<void> {
  if (sources.postgres?.from === 'address') return;
  const { DATABASE_URL = '' } = environment;
  const owner = new pg.Client({ connectionString: DATABASE_URL });
  await owner.connect();
  try {
    const { password, pathname } = new URL(DATABASE_URL);
    const database = owner.escapeIdentifier(decodeURIComponent(pathname.slice(1)));
    const roles = services.flatMap(({ databaseRole }) => databaseRole ?? []);
    for (const role of roles) {
      const own = owner.escapeLiteral(passwordOf(role, decodeURIComponent(password)));
      await owner.query(`alter role ${role} login password ${own}`);
    }
    await owner.query(closed(database, roles));
  } finally {
    await owner.end();
  }
}

/** Revokes the rights of public in each database, like docs/operating/securing.md. */
const closed = (database: string, roles: readonly string[]): string => `
  revoke all on database ${database} from public;
  revoke all on schema public from public;
  revoke execute on function lo_creat(int), lo_create(oid), lo_from_bytea(oid, bytea) from public;
  grant connect on database ${database} to ${roles.join(', ')}`;
