import type { KeyRing } from '@waybell/runtime/secrets';
import { microBatch } from '@waybell/runtime/micro-batch';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';

/** The subscription as it is now, not as it was when the delivery was made. */
export type Target = {
  state: 'active' | 'deactivated' | 'ended';
  isFeatureOn: boolean;
  callbackUrl: string;
  verificationToken: string;
};

type TargetRow = {
  subscription_guid: string;
  state: Target['state'];
  feature_on: boolean;
  callback_url: string;
  verification_token_sealed: Buffer;
  verification_token_key_id: string;
};

const TARGETS = {
  name: 'delivery-targets',
  text: `select subscription_guid, state, feature_on, callback_url, verification_token_sealed, verification_token_key_id
         from unnest($1::uuid[]) wanted(guid) join waybell.delivery_targets on subscription_guid = wanted.guid`,
};

/** Finds the target of a subscription by its guid; undefined where there never was one. */
export type FindTarget = (subscription: string) => Promise<Target | undefined>;

export function findTargetIn(postgres: Postgres, keyRing: KeyRing): FindTarget {
  const findRow = microBatch(async (guids) => {
    const { rows } = await whenAvailable(postgres, () => postgres.query<TargetRow>({ ...TARGETS, values: [guids] }));
    return new Map(rows.map((row) => [row.subscription_guid, row]));
  });
  return async (subscription) => {
    const row = await findRow(subscription);
    // Each on its own: a token that cannot be opened is no matter of the others in the batch.
    return row && readTarget(row, keyRing);
  };
}

function readTarget(row: TargetRow, keyRing: KeyRing): Target {
  const keyId = row.verification_token_key_id;
  // Without the key nothing can be sent to anybody it sealed a token for: a matter for the operator, not for the receiver.
  if (!keyRing.has(keyId)) throw new Unavailable(`key "${keyId}" of SECRET_KEYS`, waitForRestart);
  return {
    state: row.state,
    isFeatureOn: row.feature_on,
    callbackUrl: row.callback_url,
    verificationToken: keyRing.open({ sealed: row.verification_token_sealed, keyId }, row.subscription_guid),
  };
}

async function waitForRestart(): Promise<never> {
  throw new Error('the key comes with a restart');
}
