import {
  isLater,
  isSigned,
  isTokenOf,
  requireChecks,
  secretsIn,
  tokensIn,
  TOLERANCE_S,
  type Checks,
  type LaterChecks,
  type Secrets,
  type Tokens,
} from './checks.ts';
import { bytesOf, parseNotification, type Interface, type Parsed } from './parse-notification.ts';
import { refuse, refuseParsedBody, type Refusal } from './refusal.ts';

/** Headers of Node or of fetch; names in either case. */
export type HeadersLike =
  | { readonly [name: string]: string | readonly string[] | undefined }
  | { get(name: string): string | null };

/** A request as it came. `body`: its bytes, or a text of them, before any parser; also in base64, as AWS Lambda gets it. */
export type ReceivedRequest = { headers: HeadersLike; body: unknown };

/** Members of a request in addition to its notification. */
export type About = {
  /** `webhook-id`: the same on every attempt, and if the message is sent again. */
  id: string;
  /** 1 for the first request. */
  attempt: number;
  /** A test: no event happened. */
  isTest: boolean;
  /** The start of this attempt; undefined without its header. */
  sentAt: Date | undefined;
  /** The text as it came, for storing: a new JSON text would lose digits. `parseNotification` reads it again. */
  body: string;
};

export type Received<I extends Interface> = Parsed<I> & About;

export type ReadOptions<I extends Interface> = { interface: I } & Checks;

/** Values that a receiver learns while it runs, in addition to its options: `keepSubscribed` reads them from the API. */
export type LearnedChecks = {
  /** Signing secrets that are valid now. */
  secrets: () => readonly string[];
  /** Verification tokens of the subscriptions that are kept. */
  tokens: () => readonly string[];
  /** Asks whether there are others now, not too often. Resolves with whether there are; never rejects. */
  learn: () => Promise<boolean>;
};

/** Called by `keepSubscribed`: from then on the receiver verifies with learned values, too. */
export type Follow = (learned: LearnedChecks) => void;

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
  const bytes = signedBytes(body);
  const id = headerOf(headers, 'webhook-id');
  if (id === undefined)
    return refuse('missing_id', 'there is no header webhook-id: Waybell sends it with every request');
  // Cheap checks first: anybody can send a request, and functions may query a database.
  const { tokens } = options;
  const token = headerOf(headers, 'x-service-verification-token') ?? '';
  if (tokens !== undefined && token === '')
    return refuse('missing_token', 'there is no header X-Service-Verification-Token');
  const unsigned = await whyNotSigned(headers, { id, body: bytes }, options);
  if (unsigned !== undefined) return unsigned;
  if (tokens !== undefined && typeof tokens !== 'function' && !isTokenOf(tokensIn(tokens), token)) return refuseToken();
  const parsed = parseNotification(options.interface, bytes);
  if (parsed.kind === 'refused') return parsed;
  const { action } = parsed;
  if (typeof tokens === 'function' && !isTokenOf(tokensIn(await tokens({ action })), token)) return refuseToken();
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

const BASE64 = /^[A-Za-z0-9+/]+={0,2}$/;

/** A text in base64, as AWS Lambda gets bodies, stands for its bytes: a notification begins with a brace, which base64 does not have. */
function signedBytes(body: string | Uint8Array): Buffer {
  return typeof body === 'string' && BASE64.test(body) ? Buffer.from(body, 'base64') : bytesOf(body);
}

async function whyNotSigned(
  headers: HeadersLike,
  { id, body }: { id: string; body: Buffer },
  { secrets, toleranceS = TOLERANCE_S, now = Date.now }: Checks,
): Promise<Refusal | undefined> {
  if (secrets === undefined) return undefined;
  const signature = headersOf(headers, 'webhook-signature').join(' ');
  const timestampS = timestampOf(headers);
  if (signature === '' || timestampS === undefined)
    return refuse(
      'missing_signature',
      'there is no header webhook-signature, or no webhook-timestamp in whole seconds',
    );
  const ageS = now() / 1_000 - timestampS;
  if (ageS > toleranceS)
    return refuse('too_old', `it was signed ${Math.round(ageS)} s ago: is this machine's clock right?`);
  if (ageS < -toleranceS)
    return refuse('in_the_future', `it was signed ${Math.round(-ageS)} s from now: is this machine's clock right?`);
  const known = secretsIn(typeof secrets === 'function' ? await secrets() : secrets);
  if (isSigned(signature, known, { id, timestampS, body })) return undefined;
  return refuse(
    'signature_does_not_match',
    'it was signed with another secret (GET /v1/signing-secrets shows those of your client), or something changed the body on its way',
  );
}

function refuseToken(): Refusal {
  return refuse(
    'token_does_not_match',
    'the token is none of those known here: on the carrier interface it changes with each subscribe',
  );
}

function timestampOf(headers: HeadersLike): number | undefined {
  const text = headerOf(headers, 'webhook-timestamp') ?? '';
  return /^\d{1,11}$/.test(text) ? Number(text) : undefined;
}

/** Absent and empty are the same; of several, the first. */
function headerOf(headers: HeadersLike, name: string): string | undefined {
  return headersOf(headers, name)[0] || undefined;
}

function headersOf(headers: HeadersLike, name: string): string[] {
  const value = isFetched(headers)
    ? headers.get(name)
    : (headers[name] ?? Object.entries(headers).find(([each]) => each.toLowerCase() === name)?.[1]);
  return [value ?? ''].flat();
}

function isFetched(headers: HeadersLike): headers is { get(name: string): string | null } {
  return typeof headers.get === 'function';
}

type LearningOptions<I extends Interface> = { interface: I } & (Checks | LaterChecks);

/**
 * Reads like `readNotification`, with given and learned values. A request that matches neither is checked again after more was
 * learned.
 */
export function learningReader<I extends Interface>(
  options: LearningOptions<I>,
): { follow: Follow; read: (request: ReceivedRequest) => Promise<Received<I> | Refusal> } {
  let learned: LearnedChecks | undefined;
  const read = (request: ReceivedRequest) => readNotification(request, withLearned(options, learned));
  return {
    follow: (given) => void (learned = given),
    async read(request) {
      if (isLater(options) && learned?.secrets().length === 0) await learned.learn();
      const reading = await read(request);
      return isUnknown(reading) && (await learned?.learn()) === true ? read(request) : reading;
    },
  };
}

/** A secret or a token may be newer than the known ones. */
function isUnknown(reading: { kind: string; reason?: string }): boolean {
  return reading.reason === 'signature_does_not_match' || reading.reason === 'token_does_not_match';
}

function withLearned<I extends Interface>(
  options: LearningOptions<I>,
  learned: LearnedChecks | undefined,
): { interface: I } & Checks {
  const { secrets, tokens } = options;
  if (isLater(options)) {
    const { interface: name, ...times } = options;
    return { ...times, interface: name, secrets: () => learnedSecrets(learned) };
  }
  if (learned === undefined) return options;
  return {
    ...options,
    ...(secrets !== undefined && { secrets: async () => [...(await givenSecrets(secrets)), ...learned.secrets()] }),
    ...(tokens !== undefined && {
      tokens: async (about: { action: string }) => {
        const known = [...(await givenTokens(tokens, about)), ...learned.tokens()];
        return known.length > 0 ? known : undefined;
      },
    }),
  };
}

function learnedSecrets(learned: LearnedChecks | undefined): readonly string[] {
  if (learned === undefined) throw new TypeError('give "secrets" or "tokens", or call keepSubscribed(receiver, …)');
  const secrets = learned.secrets();
  if (secrets.length === 0) throw new Error('keepSubscribed could not ask for the signing secrets yet');
  return secrets;
}

async function givenSecrets(secrets: Secrets): Promise<string[]> {
  return secretsIn(typeof secrets === 'function' ? await secrets() : secrets);
}

async function givenTokens(tokens: Tokens, about: { action: string }): Promise<string[]> {
  return tokensIn(typeof tokens === 'function' ? await tokens(about) : tokens);
}
