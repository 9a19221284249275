import type { JWTPayload } from 'jose';
import { DEFAULT_SCOPES, type Scope } from '../../tokens.ts';
import { invalidToken, type Caller } from './authenticate.ts';

export type JwtScopeRules = {
  /** Scopes of a JWT that has none of the claims below. */
  defaultScopes: readonly Scope[];
  audience: string;
};

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
export function jwtScopes(payload: JWTPayload, rules: JwtScopeRules): Pick<Caller, 'scopes' | 'whyNoScope'> {
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
