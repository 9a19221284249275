import { randomUUID } from 'node:crypto';
import type { Queryable } from '@waybell/runtime/postgres';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { Actor } from './actor.ts';
import type { Database } from './database.ts';
import { newSigningSecret } from './sealed-rows.ts';

/** A secret of Standard Webhooks, `whsec_…`. The current one has no end; the one before it is valid until its end. */
export type SigningSecret = { secret: string; createdAt: Date; expiresAt: Date | null };

/** The client that owns the secrets, and the author of a change of them: each client of an account has others. */
export type SecretsOwner = { accountGuid: string; clientId: string; actor: Actor };

/** `isRotated`: whether there is a new one; otherwise a rotation before it is not over. */
export type Rotation = { isRotated: boolean; secrets: SigningSecret[] };

export type SigningSecrets = {
  /** Lists the client's valid secrets, the current one first. Its first secret is made when they are listed, or when it subscribes. */
  list(owner: SecretsOwner): Promise<SigningSecret[]>;
  /**
   * Puts a new secret first; the one before stays valid for the overlap. While another is valid from a rotation before,
   * nothing changes, unless it `endsEarlier`: that one ends at once then.
   */
  rotate(owner: SecretsOwner, how: { endsEarlier: boolean }): Promise<Rotation>;
};

type SecretRow = { guid: string; sealed: Buffer; key_id: string; created_at: Date; expires_at: Date | null };

const CURRENT = '(account_guid, client_id) where expires_at is null';
const OF_CLIENT = 'account_guid = $1 and client_id = $2';

/** Makes a client's first secret where it has none; `$n` are account and client, and what newSecret returns. */
export const ensureSecret = (client: number, secret: number) => `
  insert into waybell.signing_secrets (account_guid, client_id, guid, sealed, key_id)
  values ($${client}, $${client + 1}, $${secret}, $${secret + 1}, $${secret + 2}) on conflict ${CURRENT} do nothing`;

const VALID = `
  select guid, sealed, key_id, created_at, expires_at from waybell.signing_secrets
  where ${OF_CLIENT} and (expires_at is null or expires_at > clock_timestamp()) order by created_at desc`;

// One after another, if several rotate at once: each replaces the one before.
const LOCK = 'select from waybell.accounts where guid = $1 for no key update';
const FORGET = `delete from waybell.signing_secrets where ${OF_CLIENT} and expires_at is not null`;
const RETIRE = `
  update waybell.signing_secrets set expires_at = clock_timestamp() + $3 * interval '1 millisecond' where ${OF_CLIENT}`;
const ADD = `
  insert into waybell.signing_secrets (account_guid, client_id, guid, sealed, key_id, created_at)
  values ($1, $2, $3, $4, $5, clock_timestamp())`;

export function keepSigningSecrets({
  database,
  keyRing,
  overlapMs,
}: {
  database: Database;
  keyRing: KeyRing;
  overlapMs: number;
}): SigningSecrets {
  const open = ({
    guid,
    sealed,
    key_id: keyId,
    created_at: createdAt,
    expires_at: expiresAt,
  }: SecretRow): SigningSecret => ({
    secret: keyRing.open({ sealed, keyId }, guid),
    createdAt,
    expiresAt,
  });

  const listValid = async (postgres: Queryable, client: readonly string[]) =>
    (await postgres.query<SecretRow>(VALID, [...client])).rows.map(open);

  return {
    async list({ accountGuid, clientId, actor }) {
      const client = [accountGuid, clientId];
      const found = await database.run((source) => source.query<SecretRow[]>(VALID, client));
      if (found.length > 0) return found.map(open);
      return database.change(actor, async (postgres) => {
        await postgres.query(ensureSecret(1, 3), [...client, ...newSecret(keyRing)]);
        return listValid(postgres, client);
      });
    },
    rotate: ({ accountGuid, clientId, actor }, { endsEarlier }) =>
      database.change(actor, async (postgres) => {
        const client = [accountGuid, clientId];
        await postgres.query(LOCK, [accountGuid]);
        await postgres.query(ensureSecret(1, 3), [...client, ...newSecret(keyRing)]);
        const before = await listValid(postgres, client);
        if (before.length > 1 && !endsEarlier) return { isRotated: false, secrets: before };
        await postgres.query(FORGET, client);
        await postgres.query(RETIRE, [...client, overlapMs]);
        await postgres.query(ADD, [...client, ...newSecret(keyRing)]);
        return { isRotated: true, secrets: await listValid(postgres, client) };
      }),
  };
}

/** Guid, ciphertext and key of a new secret. */
export function newSecret(keyRing: KeyRing): [guid: string, sealed: Buffer, keyId: string] {
  const guid = randomUUID();
  const { sealed, keyId } = keyRing.seal(newSigningSecret(), guid);
  return [guid, sealed, keyId];
}
