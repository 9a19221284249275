import { createHash, timingSafeEqual } from 'node:crypto';
import { signatures, type Signed } from '@waybell/notifications/callback';
import { requireNumbers } from './require-options.ts';

type OneOrMore = string | readonly string[];
type SecretsInput = OneOrMore | undefined;

/** `whsec_…`, one or several while they are rotated (in one text with commas or blanks, too), or a function that is asked at each request. */
export type Secrets = OneOrMore | (() => SecretsInput | Promise<SecretsInput>);

/** The `verification_token` of each subscription, or a function that finds those of an action. */
export type Tokens = OneOrMore | ((about: { action: string }) => SecretsInput | Promise<SecretsInput>);

type CheckTimes = {
  /** How far `webhook-timestamp` may be from now, in seconds; 300 unless given. */
  toleranceS?: number;
  /** Milliseconds since 1970; the system's clock, unless given. */
  now?: () => number;
};

/**
 * The checks that a request comes from Waybell: its signature, the token of its subscription, or both. A check that is given as
 * undefined, as from a missing environment variable, is an error, not a check that is left out.
 */
export type Checks = CheckTimes &
  (
    | { secrets: Secrets | undefined; tokens?: Tokens | undefined }
    | { tokens: Tokens | undefined; secrets?: Secrets | undefined }
  );

/** Neither: the signing secrets come by `keepSubscribed`, and until then nothing is taken. */
export type LaterChecks = CheckTimes & { secrets?: never; tokens?: never };

/** Throws where neither check is given, or one of them cannot be made. */
export function requireChecks(checks: Checks): void {
  requireUsable(checks);
  if (isLater(checks)) throw new TypeError('give "secrets", "tokens" or both');
}

export function isLater(checks: Checks | LaterChecks): checks is LaterChecks {
  return checks.secrets === undefined && checks.tokens === undefined;
}

/** Throws where a check that is given cannot be made. */
export function requireUsable(checks: Checks | LaterChecks): void {
  const { secrets, tokens, toleranceS = TOLERANCE_S } = checks;
  for (const name of ['secrets', 'tokens'] as const)
    if (name in checks && checks[name] === undefined)
      throw new TypeError(
        `"${name}" is undefined: is the environment variable set? Leave it out to do without this check`,
      );
  if (secrets !== undefined && typeof secrets !== 'function') secretsIn(secrets);
  if (tokens !== undefined && typeof tokens !== 'function') tokensIn(tokens);
  requireNumbers({ toleranceS });
}

export const TOLERANCE_S = 300;

/** Standard Webhooks 1.0: a secret has 24 to 64 bytes. */
const LEAST_BYTES = 24;

/** Each of the secrets; a text may have several. */
export function secretsIn(given: SecretsInput): string[] {
  // An empty text stays, and is reported.
  const secrets = textsIn(given).flatMap((text) => text.trim().split(/[\s,]+/));
  if (secrets.length === 0) throw new TypeError('there is no signing secret to verify with');
  const wrong = secrets.findIndex((each) => !isSecret(each));
  if (wrong >= 0)
    throw new TypeError(
      `secrets[${wrong}] is no signing secret, which is "whsec_" and base64 of ${LEAST_BYTES} bytes at least: GET /v1/signing-secrets ` +
        'shows yours. A comma or a blank separates several',
    );
  return secrets;
}

/** Whether the key's bytes are those of its text: base64 that is not canonical is read as fewer bytes, without an error. */
function isSecret(text: string): boolean {
  const [, base64 = ''] = /^whsec_(.+)$/.exec(text) ?? [];
  const key = Buffer.from(base64, 'base64');
  return key.length >= LEAST_BYTES && key.toString('base64') === base64;
}

/** None where a function found none. */
export function tokensIn(given: SecretsInput): string[] {
  const tokens = textsIn(given);
  if (tokens.some((each) => each.trim() === '')) throw new TypeError('a verification token is empty');
  if (given !== undefined && tokens.length === 0) throw new TypeError('there is no verification token to compare with');
  return tokens;
}

function textsIn(given: SecretsInput): string[] {
  // Code without a compiler may give anything.
  return [given ?? []].flat().map((each: unknown) => (typeof each === 'string' ? each : ''));
}

const SIGNATURE = /^v1,[A-Za-z0-9+/]{43}=$/;
/** More than anybody signs with at once. */
const MOST_SIGNATURES = 10;

/** Whether one of the signatures in the header is that of one of the secrets. */
export function isSigned(header: string, secrets: readonly string[], signed: Signed): boolean {
  // Servers join headers of one name with a comma and a blank.
  const parts = header.split(/,? /).filter((part) => SIGNATURE.test(part));
  const given = parts.slice(0, MOST_SIGNATURES).map((part) => Buffer.from(part));
  const expected = signatures(secrets, signed).split(' ');
  return expected.some((one) => given.some((other) => timingSafeEqual(Buffer.from(one), other)));
}

/** Whether it is one of the tokens. Takes as long wherever two texts differ. */
export function isTokenOf(tokens: readonly string[], given: string): boolean {
  return tokens.filter((each) => timingSafeEqual(digest(each), digest(given))).length > 0;
}

const digest = (text: string): Buffer => createHash('sha256').update(text).digest();
