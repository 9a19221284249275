import { isSame, isSigned, requireChecks, secretsIn, tokensIn, type Checks } from './checks.ts';
import { bytesOf, parseNotification, type Interface, type Parsed } from './parse-notification.ts';
import { refuse, refuseParsedBody, type Refusal } from './refusal.ts';

/** As Node has them, or as fetch has them; names in either case. */
export type HeadersLike =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | { get(name: string): string | null };

/** A request as it came. `body`: its bytes, before any parser. */
export type ReceivedRequest = { headers: HeadersLike; body: unknown };

/** What a request says beside its notification. */
export type About = {
  /** `webhook-id`: the same on every attempt, and if the message is sent again. */
  id: string;
  /** 1 for the first request. */
  attempt: number;
  /** Somebody asked for a test: nothing happened that it tells of. */
  isTest: boolean;
  /** When this attempt began; undefined where no header says it. */
  sentAt: Date | undefined;
  /** The text as it came, which to store: JSON of your own would lose digits. `parseNotification` reads it again. */
  body: string;
};

export type Received<I extends Interface> = Parsed<I> & About;

export type ReadOptions<I extends Interface> = { interface: I } & Checks;

/**
 * Verifies a request and reads it. Every way in which a request can be wrong is an answer, not an error. Rejects where
 * the options cannot be used, or a function among them throws.
 */
export async function readNotification<I extends Interface>(
  { headers, body }: ReceivedRequest,
  options: ReadOptions<I>,
): Promise<Received<I> | Refusal> {
  requireChecks(options);
  if (typeof body !== 'string' && !(body instanceof Uint8Array)) return refuseParsedBody();
  const bytes = bytesOf(body);
  const id = headerOf(headers, 'webhook-id');
  if (id === undefined)
    return refuse('missing_id', 'there is no header webhook-id: Waybell sends it with every request');
  const unsigned = await whyNotSigned(headers, { id, body: bytes }, options);
  if (unsigned !== undefined) return unsigned;
  const parsed = parseNotification(options.interface, bytes);
  if (parsed.kind === 'refused') return parsed;
  const unknown = await whyNotKnown(headers, parsed.action, options);
  if (unknown !== undefined) return unknown;
  const timestampS = timestampOf(headers);
  return {
    ...parsed,
    id,
    attempt: Number(headerOf(headers, 'x-webhook-attempt')) || 1,
    isTest: headerOf(headers, 'x-webhook-test') === 'true',
    sentAt: timestampS === undefined ? undefined : new Date(timestampS * 1_000),
    body: bytes.toString(),
  };
}

const TOLERANCE_S = 300;

async function whyNotSigned(
  headers: HeadersLike,
  { id, body }: { id: string; body: Buffer },
  { secrets, toleranceS = TOLERANCE_S, now = Date.now }: Checks,
): Promise<Refusal | undefined> {
  if (secrets === undefined) return undefined;
  const signature = headerOf(headers, 'webhook-signature');
  const timestampS = timestampOf(headers);
  if (signature === undefined || timestampS === undefined)
    return refuse(
      'missing_signature',
      'there is no header webhook-signature, or no webhook-timestamp in whole seconds',
    );
  const known = secretsIn(typeof secrets === 'function' ? await secrets() : secrets);
  if (!isSigned(signature, known, { id, timestampS, body }))
    return refuse(
      'signature_does_not_match',
      'it was signed with another secret (GET /v1/signing-secrets shows those of your client), or something changed the body on its way',
    );
  const ageS = now() / 1_000 - timestampS;
  if (ageS > toleranceS)
    return refuse('too_old', `it was signed ${Math.round(ageS)} s ago: is this machine's clock right?`);
  if (ageS < -toleranceS)
    return refuse('in_the_future', `it was signed ${Math.round(-ageS)} s from now: is this machine's clock right?`);
  return undefined;
}

async function whyNotKnown(headers: HeadersLike, action: string, { tokens }: Checks): Promise<Refusal | undefined> {
  if (tokens === undefined) return undefined;
  const given = headerOf(headers, 'x-service-verification-token');
  if (given === undefined) return refuse('missing_token', 'there is no header X-Service-Verification-Token');
  const known = tokensIn(typeof tokens === 'function' ? await tokens({ action }) : tokens);
  if (known.filter((each) => isSame(each, given)).length > 0) return undefined;
  return refuse(
    'token_does_not_match',
    `the token is none of those known here for ${action}: on the carrier interface it changes when one subscribes anew`,
  );
}

function timestampOf(headers: HeadersLike): number | undefined {
  const text = headerOf(headers, 'webhook-timestamp') ?? '';
  return /^\d{1,11}$/.test(text) ? Number(text) : undefined;
}

/** Absent and empty are the same; of several, the first. */
function headerOf(headers: HeadersLike, name: string): string | undefined {
  const value = isFetched(headers)
    ? headers.get(name)
    : (headers[name] ?? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]);
  return [value ?? ''].flat()[0] || undefined;
}

function isFetched(headers: HeadersLike): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}
