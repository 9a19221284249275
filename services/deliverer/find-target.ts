import { KeyMissing, type KeyRing } from '@waybell/runtime/secrets';
import { hostOf } from './endpoints/endpoint.ts';
import { microBatch } from '@waybell/runtime/micro-batch';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';

/** The current subscription of a delivery, not as it was when the delivery was made. */
export type DeliveryTarget = {
  state: 'active' | 'deactivated' | 'ended';
  isFeatureOn: boolean;
  /** Whether the owner of its parked deliveries found last that its endpoint hangs. */
  isHung: boolean;
  /** Whether to report successes to the deactivator: it knows of none within the hour, or the subscription fails. */
  reportsSuccess: boolean;
  account: string;
  callbackUrl: string;
  verificationToken: string;
  /** The client's valid signing secrets, `whsec_…`, the newest first; empty if it never requested one. */
  signingSecrets: readonly string[];
  /** The key that this process lacks to decrypt the secrets, which are then empty: the target cannot be called. */
  missingKey?: string;
};

type TargetRow = {
  subscription_guid: string;
  state: DeliveryTarget['state'];
  feature_on: boolean;
  is_hung: boolean;
  tells_success: boolean;
  account_guid: string;
  callback_url: string;
  verification_token_sealed: Buffer;
  verification_token_key_id: string;
  signing_guids: string[] | null;
  signing_sealed: Buffer[] | null;
  signing_key_ids: string[] | null;
};

const TARGETS = {
  name: 'delivery-targets',
  text: `select subscription_guid, state, feature_on, is_hung, tells_success, account_guid, callback_url, verification_token_sealed,
           verification_token_key_id, signing_guids, signing_sealed, signing_key_ids
         from unnest($1::uuid[]) wanted(guid) join waybell.delivery_targets t on subscription_guid = wanted.guid
         cross join lateral (
           select array_agg(v.guid order by created_at desc) as signing_guids,
             array_agg(sealed order by created_at desc) as signing_sealed,
             array_agg(key_id order by created_at desc) as signing_key_ids
           from waybell.valid_signing_secrets v
           where v.account_guid = t.account_guid and v.client_id = t.client_id) signing`,
};

/** Finds the target of a subscription by its guid; undefined if there never was such a subscription. */
export type FindTarget = (subscription: string) => Promise<DeliveryTarget | undefined>;

export function findTargetIn(postgres: Postgres, keyRing: KeyRing): FindTarget {
  const findRow = microBatch<string, TargetRow | undefined>(
    async (guids) => {
      const { rows } = await whenAvailable(postgres, () => postgres.query<TargetRow>({ ...TARGETS, values: [guids] }));
      const found = new Map<string, TargetRow>();
      for (const row of rows) found.set(row.subscription_guid, row);
      return guids.map((guid) => found.get(guid));
    },
    { concurrency: 1, nameOf: (guid) => guid },
  );
  return async (subscription) => {
    const row = await findRow(subscription);
    // Decrypts each row by itself: one bad token must not fail the others in the batch.
    return row && { ...factsOf(row), ...openSecrets(row, keyRing) };
  };
}

const RECENTLY_WELL = {
  name: 'recently-well',
  // Limits rows, not origins: one account may have many, side by side.
  text: `select origin as callback_url from (
           select distinct substring(callback_url from '^[^/]*//[^/?]*') as origin from (
             select callback_url from waybell.delivery_targets where state = 'active' and not tells_success limit 50000
           ) known
         ) origins order by random() limit 64`,
};

/** Finds origins of some receivers that answered with success within the hour. Throws while Postgres is away. */
export function recentlyWellIn(postgres: Postgres): () => Promise<string[]> {
  return async () => {
    const { rows } = await postgres.query<Pick<TargetRow, 'callback_url'>>(RECENTLY_WELL);
    return [...new Set(rows.map(({ callback_url: url }) => hostOf(url)))];
  };
}

/** A target from memory while Postgres is away: reports success, as a failure may have been stored since. */
export function asLastKnown(target: DeliveryTarget | undefined): DeliveryTarget | undefined {
  return target && { ...target, reportsSuccess: true };
}

type OpenedSecrets = Pick<DeliveryTarget, 'verificationToken' | 'signingSecrets' | 'missingKey'>;

function factsOf(row: TargetRow): Omit<DeliveryTarget, keyof OpenedSecrets> {
  return {
    state: row.state,
    isFeatureOn: row.feature_on,
    isHung: row.is_hung,
    reportsSuccess: row.tells_success,
    account: row.account_guid,
    callbackUrl: row.callback_url,
  };
}

function openSecrets(row: TargetRow, keyRing: KeyRing): OpenedSecrets {
  const guids = row.signing_guids ?? [];
  const open = (sealed: Buffer | undefined, keyId: string | undefined, boundTo: string): string => {
    if (sealed === undefined || keyId === undefined) throw new Error('a secret came without its key');
    return keyRing.open({ sealed, keyId }, boundTo);
  };
  try {
    return {
      verificationToken: open(row.verification_token_sealed, row.verification_token_key_id, row.subscription_guid),
      signingSecrets: guids.map((guid, index) => open(row.signing_sealed?.[index], row.signing_key_ids?.[index], guid)),
    };
  } catch (error) {
    // Secrets of other subscriptions may be under another key.
    if (!(error instanceof KeyMissing)) throw error;
    return { verificationToken: '', signingSecrets: [], missingKey: error.keyId };
  }
}
