import { isNoResult, type NoResult, noResult } from '@waybell/line/messages';
import { whenAvailable, type Postgres } from '@waybell/runtime/postgres';
import { KeyMissing, type KeyRing } from '@waybell/runtime/secrets';
import { OpenedCredentials, type Credentials } from './credentials/credentials.ts';
import { hostOf, type Hold } from './flow/endpoint.ts';
import type { Clock } from '@waybell/runtime/clock';
import { forgettingCache } from '@waybell/runtime/forgetting-cache';

/** The current subscription of a delivery, not as it was when the delivery was made. */
export type DeliveryTarget = {
  state: 'active' | 'deactivated' | 'ended';
  /** Present if it ended for an answer of 410. */
  isGone?: true;
  /** Present if it ended with its account. */
  isClosed?: true;
  isFeatureOn: boolean;
  /** State at the look-up: a pause may be over since. */
  held?: Hold;
  /** Whether to report successes to the deactivator: it knows of none within the hour, or the subscription fails. */
  reportsSuccess: boolean;
  account: string;
  callbackUrl: string;
  verificationToken: string;
  /** The client's valid signing secrets, `whsec_…`, the newest first; empty if it never requested one. */
  signingSecrets: readonly string[];
  /** Credentials of requests at its host; absent for most. */
  credentials?: Credentials;
  /** The key that this process lacks to decrypt the secrets, which are then empty: the target cannot be called. */
  missingKey?: string;
};

type TargetRow = {
  subscription_guid: string;
  state: DeliveryTarget['state'];
  held: Hold['why'] | null;
  /** Milliseconds since the epoch; null without an end. */
  held_until: number | null;
  feature_on: boolean;
  tells_success: boolean;
  account_guid: string;
  callback_url: string;
  ended_reason: string | null;
  /** In base64, like the sealed members below. */
  verification_token_sealed: string;
  verification_token_key_id: string;
  /** Separated by blanks; null for a client without secrets. */
  signing_guids: string | null;
  signing_sealed: string | null;
  signing_key_ids: string | null;
  /** Null for a host without credentials. */
  credentials_guid: string | null;
  /** Only if requested, because they may be long. */
  credentials_sealed?: string | null;
  credentials_key_id?: string | null;
};

// Strings, not arrays: pg reads those with an object for each character, 13 KB for one secret. Nor bytes, which it reads as a
// string, that it cuts, and a buffer.
const targetsWith = (more: string) => `
         select subscription_guid, state, ended_reason, held, (1000 * extract(epoch from held_until))::float8 as held_until,
           feature_on, tells_success, account_guid, callback_url,
           encode(verification_token_sealed, 'base64') as verification_token_sealed, verification_token_key_id,
           signing_guids, signing_sealed, signing_key_ids, t.credentials_guid${more}
         from unnest($1::uuid[]) wanted(guid) join waybell.delivery_targets t on subscription_guid = wanted.guid
         cross join lateral (
           select string_agg(v.guid::text, ' ' order by created_at desc, v.guid) as signing_guids,
             string_agg(encode(sealed, 'base64'), ' ' order by created_at desc, v.guid) as signing_sealed,
             string_agg(key_id, ' ' order by created_at desc, v.guid) as signing_key_ids
           from waybell.valid_signing_secrets v
           where v.account_guid = t.account_guid and v.client_id = t.client_id) signing`;

const TARGETS = { name: 'delivery-targets', text: targetsWith('') };

/** Read in the same statement as the target: between two statements credentials may be replaced. */
const TARGETS_WITH_CREDENTIALS = {
  name: 'delivery-targets-with-credentials',
  text: targetsWith(`, (select encode(sealed, 'base64') from waybell.credentials where guid = t.credentials_guid)
             as credentials_sealed, (select key_id from waybell.credentials where guid = t.credentials_guid) as credentials_key_id`),
};

/** The target of a subscription; undefined if there never was one; or why it is not known: its secrets cannot be opened, for example. */
export type KnownTarget = DeliveryTarget | undefined | NoResult;

/** Finds the targets of subscriptions by their guids, each at the place of its guid. May throw `Unavailable` for all. */
export type FindTargets = (subscriptions: readonly string[]) => Promise<readonly KnownTarget[]>;

/** Finds them with one statement, and those whose credentials are not known yet with another. */
export function findTargetsIn(postgres: Postgres, keyRing: KeyRing): FindTargets {
  const opening = { keyRing, credentials: new OpenedCredentials(keyRing) };
  const ask = async (statement: typeof TARGETS, subscriptions: Iterable<string>) => {
    // A string in Postgres' array format: pg would search each guid for characters to escape.
    const values = [`{${[...subscriptions].join()}}`];
    return (await whenAvailable(postgres, () => postgres.query<TargetRow>({ ...statement, values }))).rows;
  };
  return async (subscriptions) => {
    const found = new Map<string, KnownTarget>();
    const add = (row: TargetRow) => found.set(row.subscription_guid, targetOf(row, opening));
    const unopened: string[] = [];
    for (const row of await ask(TARGETS, new Set(subscriptions))) {
      const { credentials_guid: guid, subscription_guid: subscription } = row;
      if (guid === null || opening.credentials.get(guid) !== undefined) add(row);
      else unopened.push(subscription);
    }
    if (unopened.length > 0) for (const row of await ask(TARGETS_WITH_CREDENTIALS, unopened)) add(row);
    return subscriptions.map((guid) => found.get(guid));
  };
}

const RECENTLY_WELL = {
  name: 'recently-well',
  // Limits rows, not origins: one account may have many, side by side.
  text: `select origin as callback_url from (
           select distinct substring(callback_url from '^[^/]*//[^/?]*') as origin from (
             select callback_url from waybell.delivery_targets where state = 'active' and held is null and not tells_success limit 50000
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
export function lastKnownTarget(target: DeliveryTarget | undefined): DeliveryTarget | undefined {
  return target && { ...target, reportsSuccess: true };
}

/** Whether two answers are equal in all members. */
export function isSameTarget(one: DeliveryTarget | undefined, other: DeliveryTarget | undefined): boolean {
  if (one === undefined || other === undefined) return one === other;
  return (
    one.state === other.state &&
    one.isGone === other.isGone &&
    one.isClosed === other.isClosed &&
    one.held?.why === other.held?.why &&
    one.held?.until === other.held?.until &&
    one.isFeatureOn === other.isFeatureOn &&
    one.reportsSuccess === other.reportsSuccess &&
    one.account === other.account &&
    one.callbackUrl === other.callbackUrl &&
    one.verificationToken === other.verificationToken &&
    one.credentials?.guid === other.credentials?.guid &&
    one.missingKey === other.missingKey &&
    one.signingSecrets.length === other.signingSecrets.length &&
    one.signingSecrets.every((secret, place) => secret === other.signingSecrets[place])
  );
}

type Opening = { keyRing: KeyRing; credentials: OpenedCredentials };

/** Opens the secrets of each row by itself: one that cannot be opened fails no other subscription. */
function targetOf(row: TargetRow, { keyRing, credentials: opened }: Opening): DeliveryTarget | NoResult {
  const target: DeliveryTarget = {
    state: row.state,
    isFeatureOn: row.feature_on,
    reportsSuccess: row.tells_success,
    account: row.account_guid,
    callbackUrl: row.callback_url,
    verificationToken: '',
    signingSecrets: NO_SECRETS,
  };
  if (row.ended_reason === 'gone') target.isGone = true;
  if (row.ended_reason === 'closed') target.isClosed = true;
  if (row.held !== null) target.held = { why: row.held, ...(row.held_until !== null && { until: row.held_until }) };
  try {
    const { verification_token_sealed: sealed, verification_token_key_id: keyId } = row;
    const token = keyRing.open({ sealed, keyId }, row.subscription_guid);
    const credentials = openCredentials(row, opened);
    if (credentials !== undefined) target.credentials = credentials;
    target.signingSecrets = openSigning(row, keyRing);
    target.verificationToken = token;
  } catch (error) {
    if (!(error instanceof KeyMissing)) return noResult(error);
    target.missingKey = error.keyId;
  }
  return target;
}

/** Throws if it was to be opened and came without its ciphertext. */
function openCredentials(row: TargetRow, opened: OpenedCredentials): Credentials | undefined {
  const { credentials_guid: guid, credentials_sealed: sealed, credentials_key_id: keyId } = row;
  if (guid === null) return undefined;
  const known = opened.get(guid);
  if (known !== undefined) return known;
  if (typeof sealed !== 'string' || typeof keyId !== 'string') throw new Error('credentials came without their key');
  return opened.open(guid, { sealed, keyId });
}

const NO_SECRETS: readonly string[] = [];

function openSigning(row: TargetRow, keyRing: KeyRing): readonly string[] {
  if (row.signing_guids === null) return NO_SECRETS;
  const [allSealed, keyIds] = [row.signing_sealed?.split(' '), row.signing_key_ids?.split(' ')];
  return row.signing_guids.split(' ').map((guid, place) => {
    const [sealed, keyId] = [allSealed?.[place], keyIds?.[place]];
    if (sealed === undefined || keyId === undefined) throw new Error('a secret came without its key');
    return keyRing.open({ sealed, keyId }, guid);
  });
}

/** Finds a value for each key, at its place; or why that one is not known. */
type FindMany<V> = (keys: readonly string[]) => Promise<readonly (V | NoResult)[]>;

type LastKnownOptions<V> = {
  maxAgeMs: number;
  /** Limit of remembered answers; the least recently confirmed one is forgotten. */
  maxEntries: number;
  clock: Clock;
  /** Converts an answer that can no longer be confirmed. Default: unchanged. */
  asLastKnown?: (value: V) => V;
  /** Keeps the remembered answer if the new one is the same, which spares V8 the collection of old objects. */
  isSame?: (one: V, other: V) => boolean;
};

/**
 * Limit of a look-up while `load` is away and a last answer is known: a server that hangs must not cost its whole limit each
 * time.
 */
const PATIENCE_MS = 250;

type LastAnswer<V> = { value: V; at: number };

/**
 * Always calls `load`. While that throws `Unavailable`, returns for each key its last answer if that is young enough, and else
 * the `Unavailable`: a failover of the database must not stop a one-second retry. Throws any other error of `load`.
 */
export function withLastKnown<V>(
  load: FindMany<V>,
  { maxAgeMs, maxEntries, clock, asLastKnown = (value) => value, isSame = Object.is }: LastKnownOptions<V>,
): FindMany<V> {
  const known = forgettingCache<LastAnswer<V>>({ max: maxEntries, unusedMs: maxAgeMs + 1, clock });
  let away: NoResult | undefined;

  function remember(key: string, value: V, at: number): void {
    const last = known.get(key);
    if (last !== undefined && isSame(last.value, value)) last.at = at;
    else known.set(key, { value, at });
  }

  function lastOf(key: string): LastAnswer<V> | undefined {
    const last = known.peek(key);
    return last === undefined || clock.now() - last.at > maxAgeMs ? undefined : last;
  }

  function allLast(keys: readonly string[], unknown: NoResult): (V | NoResult)[] {
    return keys.map((key) => {
      const last = lastOf(key);
      return last === undefined ? unknown : asLastKnown(last.value);
    });
  }

  async function ask(keys: readonly string[]): Promise<readonly (V | NoResult)[]> {
    try {
      const answers = await load(keys);
      away = undefined;
      const at = clock.now();
      keys.forEach((key, place) => {
        const answer = answers[place];
        // `FindMany` promises an answer for each key.
        if (!isNoResult(answer)) remember(key, answer as V, at);
      });
      return answers;
    } catch (error) {
      const unknown = noResult(error);
      if (unknown.kind !== 'away') throw error;
      away = unknown;
      return allLast(keys, unknown);
    }
  }

  return (keys) => {
    const unknown = away;
    if (unknown === undefined || !keys.some((key) => lastOf(key) !== undefined)) return ask(keys);
    return Promise.race([ask(keys), clock.sleep(PATIENCE_MS).then(() => allLast(keys, unknown))]);
  };
}
