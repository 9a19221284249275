import { EntitySchema } from 'typeorm';
import type { Account } from './account.ts';

/** An opaque access token. The token itself is nowhere, only its SHA-256. */
export type AccessToken = {
  guid: string;
  hash: Buffer;
  account: Account;
  client_id: string;
  scopes: string[];
  created_at: Date;
  expires_at: Date | null;
  revoked_at: Date | null;
  last_used_at: Date | null;
};

export const accessTokenTable = new EntitySchema<AccessToken>({
  name: 'access_token',
  tableName: 'access_tokens',
  columns: {
    guid: { type: 'uuid', primary: true },
    hash: { type: 'bytea' },
    client_id: { type: 'text' },
    scopes: { type: 'text', array: true },
    created_at: { type: 'timestamptz' },
    expires_at: { type: 'timestamptz', nullable: true },
    revoked_at: { type: 'timestamptz', nullable: true },
    last_used_at: { type: 'timestamptz', nullable: true },
  },
  relations: {
    account: { type: 'many-to-one', target: 'account', joinColumn: { name: 'account_guid' } },
  },
});
