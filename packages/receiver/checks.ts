import { createHash, timingSafeEqual } from 'node:crypto';
import { signatures, type Signed } from '@waybell/notifications/signature';

type OneOrMore = string | readonly string[];
type Given = OneOrMore | undefined;

/** `whsec_…`, one or several while they are rotated, or a function that is asked at each request. */
export type Secrets = OneOrMore | (() => Given | Promise<Given>);

/** The `verification_token` of each subscription, or a function that finds those of an action. */
export type Tokens = OneOrMore | ((about: { action: string }) => Given | Promise<Given>);

/**
 * How one knows that a request comes from Waybell: by its signature, by the token of its subscription, or both. What is
 * given and undefined, as an environment variable may be, is an error, not a check that is left out.
 */
export type Checks = {
  /** How far `webhook-timestamp` may be from now, in seconds; 300 unless given. */
  toleranceS?: number;
  /** Milliseconds since 1970; the system's clock, unless given. */
  now?: () => number;
} & (
  | { secrets: Secrets | undefined; tokens?: Tokens | undefined }
  | { tokens: Tokens | undefined; secrets?: Secrets | undefined }
);

/** Throws where neither check is given, or one of them cannot be made. */
export function requireChecks(checks: Checks): void {
  const { secrets, tokens } = checks;
  for (const name of ['secrets', 'tokens'] as const)
    if (name in checks && checks[name] === undefined)
      throw new TypeError(
        `"${name}" is undefined: is the environment variable set? Leave it out to do without this check`,
      );
  if (secrets === undefined && tokens === undefined) throw new TypeError('give "secrets", "tokens" or both');
  if (secrets !== undefined && typeof secrets !== 'function') secretsIn(secrets);
  if (tokens !== undefined && typeof tokens !== 'function') tokensIn(tokens);
}

const SECRET = /^whsec_[\w+/-]+={0,2}$/;

export function secretsIn(given: Given): string[] {
  const secrets = [given ?? []].flat();
  if (secrets.length === 0) throw new TypeError('there is no signing secret to verify with');
  if (!secrets.every((each) => SECRET.test(each)))
    throw new TypeError('a signing secret is "whsec_" and base64: GET /v1/signing-secrets shows yours');
  return secrets;
}

/** None where a function found none. */
export function tokensIn(given: Given): string[] {
  const tokens = [given ?? []].flat();
  if (tokens.some((each) => each === '')) throw new TypeError('a verification token is empty');
  if (given !== undefined && tokens.length === 0) throw new TypeError('there is no verification token to compare with');
  return tokens;
}

/** Whether one of the signatures in the header is that of one of the secrets. */
export function isSigned(header: string, secrets: readonly string[], signed: Signed): boolean {
  const expected = signatures(secrets, signed).split(' ');
  const given = header.split(' ');
  return expected.some((one) => given.some((other) => isSame(one, other)));
}

/** Takes as long wherever two texts differ. */
export function isSame(one: string, other: string): boolean {
  return timingSafeEqual(digest(one), digest(other));
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
