/** Callers by the JWTs of an issuer: their claims, their scopes, and the keys that sign them. */
import { errors, jwtVerify, createRemoteJWKSet, customFetch, type JWTPayload, type FetchImplementation } from 'jose';
import { isGuid } from '@waybell/events/timestamp';
import { systemClock } from '@waybell/runtime/clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Actor } from '../../actor.ts';
import type { Database } from '../../database.ts';
import type { Account } from '../../tables.ts';
import { isClientName, DEFAULT_SCOPES, type Scope } from '../../tokens.ts';
import { invalidToken, type Caller, type FindCaller } from './authenticate.ts';

/** Rules that JWTs must satisfy, and the claims that name their client. */
export type JwtRules = {
  issuer: string;
  audience: string;
  jwksUrl: URL;
  algorithms: string[];
  /** How much the clocks of issuer and process may differ. */
  leewayMs: number;
  /** Scopes of a JWT without a claim that names some. */
  defaultScopes: readonly Scope[];
  /** The names of the claims. */
  claims: { account: string; client: string; interface: string };
};

type NamedCaller = Pick<Caller, 'accountGuid' | 'clientId' | 'interface' | 'scopes' | 'whyNoScope'>;

// RFC 3339 has no way to write a later year.
const LAST_EXPIRY_S = 253_402_300_799;

/** A name that is shown to people must fit into a line. */
const NAME = /^[\p{L}\p{M}\p{N}\p{P}\p{S} ]{1,255}$/u;

/**
 * Knows callers by JWT access tokens (RFC 9068). The first valid one of an account creates it; its
 * features are those of the account, as for any token.
 */
export function byJwt(database: Database, rules: JwtRules): FindCaller {
  const keys = issuerKeys(rules.jwksUrl);
  const options = {
    issuer: rules.issuer,
    audience: rules.audience,
    algorithms: rules.algorithms,
    clockTolerance: rules.leewayMs / 1_000,
    typ: 'at+jwt',
    requiredClaims: ['exp', 'iat', 'sub', 'jti', ...Object.values(rules.claims)],
  };
  return async (token, from) => {
    const verified = await jwtVerify(token, keys, options).catch((error: unknown) => {
      throw explain(error, () => keys.reload());
    });
    const named = readClaims(verified.payload, rules);
    const actor = { who: `jwt ${verified.payload.sub}`, ...from };
    const account = await findOrCreate(database, named, actor);
    if (account.closed_at !== null) throw invalidToken('The account of the access token is closed.');
    if (account.interface !== named.interface) {
      throw invalidToken(`The access token is for the ${named.interface} interface, its account for the other.`);
    }
    return { ...named, accountName: account.name, features: account.features, actor };
  };
}

/** Checks each claim that is read or shown here against RFC 9068; jose has checked the others. */
function readClaims(payload: JWTPayload, { claims: names, leewayMs, ...rules }: JwtRules): NamedCaller {
  const { exp, iat } = payload;
  if (Number(exp) > LAST_EXPIRY_S) throw badClaim('exp');
  if (Number(iat) * 1_000 > Date.now() + leewayMs) throw badClaim('iat');
  const text = (name: string) => (typeof payload[name] === 'string' ? payload[name] : '');
  const [accountGuid, clientId, interfaceName] = [text(names.account), text(names.client), text(names.interface)];
  if (!isGuid(accountGuid)) throw badClaim(names.account);
  if (!isClientName(clientId)) throw badClaim(names.client);
  if (interfaceName !== 'shipper' && interfaceName !== 'carrier') throw badClaim(names.interface);
  for (const name of ['sub', 'jti']) if (!NAME.test(text(name))) throw badClaim(name);
  return {
    accountGuid: accountGuid.toLowerCase(),
    clientId,
    interface: interfaceName,
    ...jwtScopes(payload, rules),
  };
}

type FoundAccount = Pick<Account, 'interface' | 'name' | 'features' | 'closed_at'>;

async function findOrCreate(database: Database, named: NamedCaller, actor: Actor): Promise<FoundAccount> {
  const { accountGuid, interface: interfaceName } = named;
  const find = 'select interface, name, features, closed_at from waybell.accounts where guid = $1';
  const create = 'insert into waybell.accounts (guid, interface) values ($1, $2) on conflict (guid) do nothing';
  const [found] = await database.run((source) => source.query<FoundAccount[]>(find, [accountGuid]));
  if (found !== undefined) return found;
  await database.change(actor, (postgres) => postgres.query(create, [accountGuid, interfaceName]));
  const [made] = await database.run((source) => source.query<FoundAccount[]>(find, [accountGuid]));
  if (made === undefined) throw new Error('an account that was just created is not there');
  return made;
}

/** Returns the answer to a JWT that jose refuses: a fault of the token, or of fetching keys. */
function explain(error: unknown, probe: () => Promise<unknown>): Error {
  if (error instanceof errors.JWTExpired) return invalidToken('The access token expired.');
  if (error instanceof errors.JWTClaimValidationFailed) return badClaim(error.claim);
  if (error instanceof errors.JOSEAlgNotAllowed) {
    return invalidToken('The access token is signed by an algorithm that is not accepted.');
  }
  const { JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed } = errors;
  if ([JWKSNoMatchingKey, JWKSMultipleMatchingKeys, JWSSignatureVerificationFailed].some((is) => error instanceof is)) {
    return invalidToken('The signature of the access token is not by a key of its issuer.');
  }
  const { JWSInvalid, JWTInvalid, JOSENotSupported } = errors;
  if ([JWSInvalid, JWTInvalid, JOSENotSupported].some((is) => error instanceof is)) {
    return invalidToken('The access token is malformed.');
  }
  return new Unavailable('keys of the token issuer', probe, error);
}

function badClaim(name: string): Error {
  return invalidToken(`The claim ${name} of the access token is missing, or not one that is accepted here.`);
}

/** Claims with the scopes granted to the client: RFC 9068, 2.2.3, and `scp` of Microsoft Entra and Okta. */
const GRANTED = ['scope', 'scp'];
/**
 * Claims with the rights of its subject: `permissions` of Auth0, `roles` of RFC 9068, 2.2.3.1. Other applications' rights are
 * common here.
 */
const ASSIGNED = ['permissions', 'roles'];

/**
 * The scopes of a JWT. Those that `scope` and `scp` name count, together; where they name none that is Waybell's, those of
 * `permissions` and `roles`: so a client that was granted less than its user may do has less. Each claim is a text, its words
 * separated by spaces or commas, or a list of such. A word counts as it is written, alone or after the audience and a slash.
 * Throws a Problem (401) where a claim that is read is of another kind.
 */
export function jwtScopes(
  payload: JWTPayload,
  rules: Pick<JwtRules, 'defaultScopes' | 'audience'>,
): Pick<Caller, 'scopes' | 'whyNoScope'> {
  if (![...GRANTED, ...ASSIGNED].some((name) => payload[name] !== undefined)) {
    return { scopes: rules.defaultScopes, whyNoScope: `no claim ${GRANTED.join(', ')}, ${ASSIGNED.join(' or ')}` };
  }
  const granted = scopesIn(payload, GRANTED, rules.audience);
  return { scopes: granted.length > 0 ? granted : scopesIn(payload, ASSIGNED, rules.audience) };
}

function scopesIn(payload: JWTPayload, names: readonly string[], audience: string): Scope[] {
  const words = new Set(names.flatMap((name) => wordsOf(name, payload[name])));
  const prefix = audience.replace(/\/$/, '');
  return DEFAULT_SCOPES.filter((scope) => words.has(scope) || words.has(`${prefix}/${scope}`));
}

function wordsOf(name: string, claim: unknown): string[] {
  if (claim === undefined) return [];
  const texts: unknown[] = Array.isArray(claim) ? claim : [claim];
  return texts.flatMap((text) => {
    if (typeof text === 'string') return text.split(/[\s,]+/);
    throw invalidToken(`The claim ${name} of the access token has to be a text or a list of texts.`);
  });
}

const KEPT_MS = 600_000;
/** Tokens with an unknown key cause a fetch of the keys at most this often, whatever its result. */
const ASKED_EVERY_MS = 60_000;
/** Without keys no caller can be admitted: then they are fetched this often. */
const ASKED_WITHOUT_KEYS_EVERY_MS = 5_000;
const TIMEOUT_MS = 5_000;

/**
 * The keys that an issuer shows under `url` (JWKS): fetched when first needed, kept for ten minutes, and fetched again when a token names
 * another one, as after a rotation. Throws while they cannot be fetched.
 */
export function issuerKeys(
  url: URL,
  { askedEveryMs = ASKED_EVERY_MS, timeoutMs = TIMEOUT_MS, clock = systemClock } = {},
) {
  let askedAt = -Infinity;

  const fetchSeldom: FetchImplementation = async (address, options) => {
    const now = clock.now();
    if (now < askedAt + (keys.fresh ? askedEveryMs : Math.min(askedEveryMs, ASKED_WITHOUT_KEYS_EVERY_MS))) {
      throw new Error('the keys were asked for a moment ago');
    }
    askedAt = now;
    return fetch(address, options);
  };

  const keys = createRemoteJWKSet(url, {
    cacheMaxAge: KEPT_MS,
    cooldownDuration: askedEveryMs,
    timeoutDuration: timeoutMs,
    [customFetch]: fetchSeldom,
  });
  return keys;
}
