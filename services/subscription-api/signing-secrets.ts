import { randomBytes, randomUUID } from 'node:crypto';
import type { KeyRing } from '@waybell/runtime/secrets';
import type { Actor } from './actor.ts';
import type { Database, Queryable } from './database.ts';

/** A secret of Standard Webhooks, `whsec_…`. The current one has no end; the one before it is valid until its end. */
export type SigningSecret = { secret: string; createdAt: Date; expiresAt: Date | null };

/** Whose secrets, and who is to be named for a change of them. */
export type SecretsOwner = { accountGuid: string; actor: Actor };

export type SigningSecrets = {
  /** The account's valid secrets, the current one first. The first is made when it is asked for, or subscribed. */
  list(owner: SecretsOwner): Promise<SigningSecret[]>;
  /** Puts a new secret first. The one before stays valid for the overlap, any older one no longer. */
  rotate(owner: SecretsOwner): Promise<SigningSecret[]>;
};

type Row = { guid: string; sealed: Buffer; key_id: string; created_at: Date; expires_at: Date | null };

const SECRET_BYTES = 32;
const CURRENT = '(account_guid) where expires_at is null';

/** Makes an account's first secret where it has none; `$n` are the account, and what newSecret returns. */
export const ensureSecret = (account: number, secret: number) => `
  insert into waybell.signing_secrets (account_guid, guid, sealed, key_id)
  values ($${account}, $${secret}, $${secret + 1}, $${secret + 2}) on conflict ${CURRENT} do nothing`;

const VALID = `
  select guid, sealed, key_id, created_at, expires_at from waybell.signing_secrets
  where account_guid = $1 and (expires_at is null or expires_at > now()) order by created_at desc`;

// In turn, where several rotate at once: each takes the place of the one before.
const LOCK = 'select from waybell.accounts where guid = $1 for no key update';
const FORGET = 'delete from waybell.signing_secrets where account_guid = $1 and expires_at is not null';
const RETIRE = `
  update waybell.signing_secrets set expires_at = clock_timestamp() + $2 * interval '1 millisecond' where account_guid = $1`;
const ADD = `
  insert into waybell.signing_secrets (account_guid, guid, sealed, key_id, created_at)
  values ($1, $2, $3, $4, clock_timestamp())`;

export function keepSigningSecrets({
  database,
  keyRing,
  overlapMs,
}: {
  database: Database;
  keyRing: KeyRing;
  overlapMs: number;
}): SigningSecrets {
  const open = ({ guid, sealed, key_id: keyId, created_at: createdAt, expires_at: expiresAt }: Row): SigningSecret => ({
    secret: keyRing.open({ sealed, keyId }, guid),
    createdAt,
    expiresAt,
  });

  const listValid = async (postgres: Queryable, accountGuid: string) =>
    (await postgres.query<Row>(VALID, [accountGuid])).rows.map(open);

  return {
    async list({ accountGuid, actor }) {
      const found = await database.run((source) => source.query<Row[]>(VALID, [accountGuid]));
      if (found.length > 0) return found.map(open);
      return database.change(actor, async (postgres) => {
        await postgres.query(ensureSecret(1, 2), [accountGuid, ...newSecret(keyRing)]);
        return listValid(postgres, accountGuid);
      });
    },
    rotate: ({ accountGuid, actor }) =>
      database.change(actor, async (postgres) => {
        await postgres.query(LOCK, [accountGuid]);
        await postgres.query(ensureSecret(1, 2), [accountGuid, ...newSecret(keyRing)]);
        await postgres.query(FORGET, [accountGuid]);
        await postgres.query(RETIRE, [accountGuid, overlapMs]);
        await postgres.query(ADD, [accountGuid, ...newSecret(keyRing)]);
        return listValid(postgres, accountGuid);
      }),
  };
}

/** Guid, ciphertext and key of a new secret. */
export function newSecret(keyRing: KeyRing): [guid: string, sealed: Buffer, keyId: string] {
  const guid = randomUUID();
  const { sealed, keyId } = keyRing.seal(`whsec_${randomBytes(SECRET_BYTES).toString('base64')}`, guid);
  return [guid, sealed, keyId];
}
