import { checked, constant, duration, InvalidEnvironment, str, words } from '@waybell/runtime/environment';
import type { JwtRules } from './rest/authentication/by-jwt.ts';
import { DEFAULT_SCOPES, type Scope } from './tokens.ts';

// Signatures by the issuer's private key alone: with a shared secret, a process that checks tokens could make one.
const ALGORITHMS = [
  'RS256',
  'RS384',
  'RS512',
  'PS256',
  'PS384',
  'PS512',
  'ES256',
  'ES384',
  'ES512',
  'EdDSA',
  'Ed25519',
];

/** Settings of JWT access tokens. */
export const jwtSettings = {
  JWT_ISSUER: str({
    default: '',
    desc: 'issuer whose JWTs (RFC 9068) are access tokens too, exactly as in their `iss`; empty: none',
  }),
  JWT_AUDIENCE: str({ default: '', desc: 'what `aud` of a JWT has to name; required with JWT_ISSUER' }),
  JWT_JWKS_URL: str({ default: '', desc: 'https address of the keys of JWT_ISSUER; required with it' }),
  JWT_LEEWAY: constant(
    duration({ default: 5_000, desc: 'by how much the clocks of JWT_ISSUER and a process may differ' }),
  ),
  JWT_ACCOUNT_CLAIM: str({ default: 'account', desc: 'claim of a JWT with the guid of the account' }),
  JWT_CLIENT_CLAIM: str({ default: 'client_id', desc: 'claim of a JWT with the name of the client' }),
  JWT_DEFAULT_SCOPES: checked(
    words({
      default: [],
      desc: 'scopes of a JWT that has no claim `scope`, `scp`, `permissions` or `roles`',
      example: 'webhooks:read,webhooks:write',
    }),
    readDefaultScopes,
  ),
  JWT_INTERFACE_CLAIM: str({ default: 'interface', desc: 'claim of a JWT with its interface, shipper or carrier' }),
};

type JwtEnvironment = {
  [Name in keyof typeof jwtSettings]: ReturnType<(typeof jwtSettings)[Name]['_parse']>;
};

/** Undefined where JWTs are not taken. Throws InvalidEnvironment where they are, and something for that is missing. */
export function readJwtRules(settings: JwtEnvironment): JwtRules | undefined {
  if (settings.JWT_ISSUER === '') return undefined;
  const jwksUrl = URL.parse(settings.JWT_JWKS_URL);
  const problems = [
    ...(settings.JWT_AUDIENCE === '' ? ['JWT_AUDIENCE: is required with JWT_ISSUER'] : []),
    ...(jwksUrl?.protocol === 'https:' ? [] : ['JWT_JWKS_URL: is not an https URL, and is required with JWT_ISSUER']),
  ];
  if (jwksUrl === null || problems.length > 0) throw new InvalidEnvironment(problems);
  return {
    issuer: settings.JWT_ISSUER,
    audience: settings.JWT_AUDIENCE,
    jwksUrl,
    algorithms: ALGORITHMS,
    leewayMs: settings.JWT_LEEWAY,
    defaultScopes: readDefaultScopes(settings.JWT_DEFAULT_SCOPES),
    claims: {
      account: settings.JWT_ACCOUNT_CLAIM,
      client: settings.JWT_CLIENT_CLAIM,
      interface: settings.JWT_INTERFACE_CLAIM,
    },
  };
}

function readDefaultScopes(names: readonly string[]): Scope[] {
  return names.map((word) => {
    const scope = DEFAULT_SCOPES.find((each) => each === word);
    if (scope === undefined)
      throw new Error(`"${word}" is not a scope of JWTs: there are ${DEFAULT_SCOPES.join(', ')}`);
    return scope;
  });
}
