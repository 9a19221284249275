import { randomUUID } from 'node:crypto';
import { writeCredentials, type ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import type { Queryable } from '@waybell/runtime/postgres';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { Actor } from './actor.ts';
import type { Database } from './database.ts';

/** The client that owns credentials: each client of an account has others. */
export type CredentialsClient = { accountGuid: string; clientId: string };

export type CredentialsOwner = CredentialsClient & { actor: Actor };

/** The public part of a certificate; times are RFC 3339, the fingerprint is SHA-256. */
export type ShownCertificate = {
  subject: string;
  issuer: string;
  not_before: string;
  not_after: string;
  fingerprint: string;
};

/** The public part of credentials. Absent kinds are left out. */
export type ShownCredentials = {
  /** Their names. */
  headers?: string[];
  basic?: { username: string };
  /** Values in the query of `token_url` are masked. */
  oauth2?: {
    token_url: string;
    client_id: string;
    scope?: string;
    audience?: string;
    secret_in: 'header' | 'body';
  };
  certificate?: ShownCertificate;
};

/** Credentials for one host. `subscriptions`: number of the client's current ones with callbacks there. */
export type HostCredentials = { host: string; shown: ShownCredentials; changedAt: Date; subscriptions: number };

export type NewCredentials = { host: string; credentials: ReceiverCredentials; shown: ShownCredentials };

/** `guid`: that of the row from now on. */
export type PutCredentials = { isNew: boolean; guid: string; put: HostCredentials };

export type CredentialsStore = {
  /** Lists a client's credentials, by host. */
  list(client: CredentialsClient): Promise<HostCredentials[]>;
  find(client: CredentialsClient, host: string): Promise<HostCredentials | undefined>;
  /** Puts them in the place of those that the client has for the host; undefined where it has none, and for as many others as it may. */
  put(owner: CredentialsOwner, given: NewCredentials): Promise<PutCredentials | undefined>;
  /** False where there were none. */
  remove(owner: CredentialsOwner, host: string): Promise<boolean>;
};

type RemovedRow = { ending_told: Date | null };

/** Each costs a row, and memory of a deliverer that uses it. */
export const MOST_HOSTS = 100;

const OF_CLIENT = 'c.account_guid = $1 and c.client_id = $2';

const FIND = `
  select c.host, c.shown, c.changed_at as "changedAt", (
    select count(*)::int from waybell.subscriptions s
    where s.account_guid = c.account_guid and s.client_id = c.client_id and s.ended_at is null
      and waybell.authority_of(s.callback_url) = c.host) as subscriptions
  from waybell.credentials c where ${OF_CLIENT} and ($3::text is null or c.host = $3) order by c.host`;

// One after another, if several change them at once: each replaces the one before.
const LOCK = 'select from waybell.accounts where guid = $1 for no key update';
const REMOVE = `delete from waybell.credentials c where ${OF_CLIENT} and c.host = $3 returning c.ending_told`;
const COUNT = `select count(*)::int as hosts from waybell.credentials c where ${OF_CLIENT}`;
const INSERT = `
  insert into waybell.credentials
    (account_guid, client_id, ending_told, host, guid, kinds, shown, sealed, key_id, certificate_ends_at)
  values ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)`;

/** Stores clients' credentials for their callbacks to a host, encrypted: no answer ever shows them. */
export function keepCredentials({ database, keyRing }: { database: Database; keyRing: KeyRing }): CredentialsStore {
  const findIn = async (postgres: Queryable, { accountGuid, clientId }: CredentialsClient, host: string | null) =>
    (await postgres.query<HostCredentials>(FIND, [accountGuid, clientId, host])).rows;

  return {
    list: ({ accountGuid, clientId }) =>
      database.run((source) => source.query<HostCredentials[]>(FIND, [accountGuid, clientId, null])),
    async find({ accountGuid, clientId }, host) {
      const found = await database.run((source) =>
        source.query<HostCredentials[]>(FIND, [accountGuid, clientId, host]),
      );
      return found[0];
    },
    put: (owner, given) =>
      database.change(owner.actor, async (postgres) => {
        const client = [owner.accountGuid, owner.clientId];
        await postgres.query(LOCK, [owner.accountGuid]);
        const { rows: removed } = await postgres.query<RemovedRow>(REMOVE, [...client, given.host]);
        const { rows } = await postgres.query<{ hosts: number }>(COUNT, client);
        if ((rows[0]?.hosts ?? 0) >= MOST_HOSTS) return undefined;
        // The end of an unchanged certificate is announced once.
        const endingTold = removed[0]?.ending_told ?? null;
        const guid = randomUUID();
        await postgres.query(INSERT, [...client, endingTold, ...rowOf(given, { guid, keyRing })]);
        const [put] = await findIn(postgres, owner, given.host);
        if (put === undefined) throw new Error('credentials that were just put in have gone');
        return { isNew: removed.length === 0, guid, put };
      }),
    remove: (owner, host) =>
      database.change(owner.actor, async (postgres) => {
        await postgres.query(LOCK, [owner.accountGuid]);
        const { rowCount } = await postgres.query(REMOVE, [owner.accountGuid, owner.clientId, host]);
        return rowCount !== 0;
      }),
  };
}

/** From the host on. With each change the guid is another: what is known of one stays true. */
function rowOf(
  { host, credentials, shown }: NewCredentials,
  { guid, keyRing }: { guid: string; keyRing: KeyRing },
): unknown[] {
  const { sealed, keyId } = keyRing.seal(writeCredentials(credentials), guid);
  const endsAt = shown.certificate?.not_after ?? null;
  return [host, guid, Object.keys(shown), JSON.stringify(shown), sealed, keyId, endsAt];
}
