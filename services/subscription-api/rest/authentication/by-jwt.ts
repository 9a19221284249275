import { isGuid } from '@waybell/events/guid';
import { Unavailable } from '@waybell/runtime/unavailable';
import { errors, jwtVerify, type JWTPayload } from 'jose';
import type { Actor } from '../../actor.ts';
import type { Database } from '../../database.ts';
import type { Account } from '../../tables/account.ts';
import { isClientName } from '../../tokens.ts';
import { invalidToken, type Caller, type FindCaller } from './authenticate.ts';
import { issuerKeys } from './issuer-keys.ts';
import { jwtScopes, type JwtScopeRules } from './jwt-scopes.ts';

/** Rules that JWTs must satisfy, and the claims that name their client. */
export type JwtRules = JwtScopeRules & {
  issuer: string;
  jwksUrl: URL;
  algorithms: string[];
  /** How much the clocks of issuer and process may differ. */
  leewayMs: number;
  /** The names of the claims. */
  claims: { account: string; client: string; interface: string };
};

type NamedCaller = Pick<Caller, 'accountGuid' | 'clientId' | 'interface' | 'scopes' | 'whyNoScope'>;

// RFC 3339 has no way to write a later year.
const LAST_EXPIRY_S = 253_402_300_799;

/** A name that is shown to people must be one word of a line, and fit there. */
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
