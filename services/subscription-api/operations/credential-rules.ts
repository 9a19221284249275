/** Bodies of requests to put in credentials for a host: their schema, and the rules beside it. No fault has anything that may be secret. */
import { shownUrl } from '@waybell/notifications/callback';
import type { ClientCredentials, ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { Type, type Static } from 'typebox';
import { readCallbackUrl, type CallbackRules } from '../callback-url.ts';
import type { NewCredentials, ShownCredentials } from '../receiver-credentials.ts';
import { readCertificate } from '../rest/credentials/read-certificate.ts';
import { isObject, pointTo } from '../rest/http/body.ts';
import type { Fault } from '../rest/http/problem.ts';
import type { UnjudgedBody } from './operation.ts';
import { choice, closed, defaulted, described, optional, text, type JsonNode } from './schema.ts';
import { callbackUrl } from './subscription-rules.ts';

const secret = (told: JsonNode) => text({ format: 'password', writeOnly: true, ...told });

const VISIBLE = {
  pattern: String.raw`^[\u0020-\u007e]{1,2048}$`,
  description: 'a text of 1 to 2,048 visible ASCII characters and blanks',
};

const headersOf = {
  type: 'object',
  minProperties: 1,
  maxProperties: 5,
  additionalProperties: secret({
    minLength: 1,
    maxLength: 4_096,
    pattern: String.raw`^[\u0021-\u007e]([\u0020-\u007e]*[\u0021-\u007e])?$`,
  }),
  description:
    'Sent with each request, in names as they are written here: not those that callbacks have already (`webhook-…`, `X-Webhook-…`, `X-Service-Verification-Token`, `User-Agent`, `Content-…`, `traceparent`), nor those that are about the connection.',
  examples: [{ 'X-Api-Key': 'p4ssw0rd' }],
};

const basicOf = closed({
  username: text({
    maxLength: 1_024,
    pattern: String.raw`^[^:\u0000-\u001f\u007f-\u009f]*$`,
    description: 'a text of at most 1,024 characters without a colon and control characters',
    examples: ['waybell'],
  }),
  password: secret({
    maxLength: 1_024,
    pattern: String.raw`^[^\u0000-\u001f\u007f-\u009f]*$`,
    description: 'a text of at most 1,024 characters without control characters',
    examples: ['p4ssw0rd'],
  }),
});

const oauth2Of = closed({
  token_url: described(callbackUrl, {
    examples: ['https://login.example.com/oauth2/token'],
    description: 'Where access tokens are asked for: by the rules for a `callback_url`.',
  }),
  client_id: text({ ...VISIBLE, examples: ['waybell'] }),
  client_secret: secret({ ...VISIBLE, examples: ['p4ssw0rd'] }),
  scope: optional(
    text({
      maxLength: 2_048,
      pattern: String.raw`^[!#-\[\]-~]+( [!#-\[\]-~]+)*$`,
      description: 'scopes with one blank between them, at most 2,048 characters: visible ASCII without " and \\',
      examples: ['notifications.write'],
    }),
  ),
  audience: optional(text({ ...VISIBLE, examples: ['https://receiver.example.com'] })),
  secret_in: defaulted(
    choice(['header', 'body'], {
      default: 'header',
      description: 'Where a token request has id and secret: in a header, as Basic, or in its body.',
    }),
  ),
});

const certificateOf = closed({
  chain: text({
    maxLength: 32_768,
    examples: ['-----BEGIN CERTIFICATE-----\nMII…\n-----END CERTIFICATE-----\n'],
    description: 'In PEM: first the certificate of the key, then each that issued the one before, at most ten.',
  }),
  key: secret({
    maxLength: 16_384,
    examples: ['-----BEGIN PRIVATE KEY-----\nMII…\n-----END PRIVATE KEY-----\n'],
    description: 'In PEM, without a passphrase: RSA with 2,048 to 4,096 bits, P-256, P-384, P-521 or Ed25519.',
  }),
});

const kinds = { basic: optional(basicOf), oauth2: optional(oauth2Of), certificate: optional(certificateOf) };
const headersBy = (node: JsonNode) => optional(Type.Unsafe<Readonly<Record<string, unknown>>>(node));

/** Faults of headers are told by `headerFaults` alone: the schema would tell names, and a secret may be in the place of one. */
export const credentialsRequest = closed({ headers: headersBy({ type: 'object' }), ...kinds });

export const shownRequest = closed(
  { headers: headersBy(headersOf), ...kinds },
  {
    minProperties: 1,
    description:
      'At least one kind. `basic`, `oauth2` and a header `Authorization` exclude each other, as a request has one of them.',
    examples: [{ headers: { 'X-Api-Key': 'p4ssw0rd' } }],
  },
);

type ReadRequest = Omit<NewCredentials, 'host'>;
/** One kind of credentials in a request; empty if it was left out. */
type ReadKind = { faults: Fault[]; credentials?: ReceiverCredentials; shown?: ShownCredentials };

/** Reads a client's credentials for a host, and their public part. Throws a Problem (422) that names every fault. */
export async function readCredentialsRequest(
  body: UnjudgedBody<Static<typeof credentialsRequest>>,
  { rules, nowMs }: { rules: CallbackRules; nowMs: number },
): Promise<ReadRequest> {
  const { value } = body;
  const given = isObject(value) && isObject(value['headers']) ? headerFaults(value['headers']) : [];
  const { headers, basic, oauth2, certificate } = body.fitting(
    body.faults.length === 0 ? [] : [...given, ...kindFaults(value)],
  );
  const read: ReadKind[] = [
    headers === undefined ? NONE : readHeaders(headers),
    basic === undefined ? NONE : readBasic(basic),
    oauth2 === undefined ? NONE : await readOAuth2(oauth2, rules),
    certificate === undefined ? NONE : readCertificateKind(certificate, nowMs),
  ];
  body.fitting([...read.flatMap((kind) => kind.faults), ...kindFaults(value)]);
  return {
    credentials: Object.assign({}, ...read.map((kind) => kind.credentials)),
    shown: Object.assign({}, ...read.map((kind) => kind.shown)),
  };
}

const NONE: ReadKind = { faults: [] };

/** A request has one Authorization. */
function kindFaults(body: unknown): Fault[] {
  if (!isObject(body)) return [];
  const { headers, basic, oauth2, certificate } = body;
  if ([headers, basic, oauth2, certificate].every((kind) => kind === undefined))
    return [{ pointer: '#', detail: 'must have at least one of: headers, basic, oauth2, certificate' }];
  const authorization = Object.keys(isObject(headers) ? headers : {}).find((name) => /^authorization$/i.test(name));
  const others = [...(basic === undefined ? [] : ['basic']), ...(oauth2 === undefined ? [] : ['oauth2'])];
  if (authorization !== undefined && others.length > 0) {
    const detail = `is what ${others.join(' and ')} would be sent as: give one of them`;
    return [{ pointer: pointTo('headers', authorization), detail }];
  }
  return others.length < 2 ? [] : [{ pointer: pointTo('oauth2'), detail: 'cannot be beside basic: give one of them' }];
}

function readHeaders(given: Readonly<Record<string, unknown>>): ReadKind {
  const texts = Object.entries(given).flatMap(([name, value]) => (typeof value === 'string' ? [{ name, value }] : []));
  const headers = Object.fromEntries(texts.map(({ name, value }) => [name, value]));
  return { faults: headerFaults(given), credentials: { headers }, shown: { headers: Object.keys(headers) } };
}

function readBasic(basic: Static<typeof basicOf>): ReadKind {
  const { username, password } = basic;
  const isEmpty = username + password === '';
  const broken = (['username', 'password'] as const).filter((member) => !basic[member].isWellFormed());
  return {
    faults: [
      ...(isEmpty ? [{ pointer: pointTo('basic'), detail: 'has neither a username nor a password' }] : []),
      ...broken.map((member) => ({
        pointer: pointTo('basic', member),
        detail: 'holds half a character (a lone surrogate)',
      })),
    ],
    credentials: { basic },
    shown: { basic: { username } },
  };
}

async function readOAuth2(oauth2: Static<typeof oauth2Of>, rules: CallbackRules): Promise<ReadKind> {
  const { token_url, client_id: clientId, client_secret: clientSecret, secret_in: secretIn, ...more } = oauth2;
  const read = await readCallbackUrl(token_url, rules);
  if ('fault' in read) return { faults: [{ pointer: pointTo('oauth2', 'token_url'), detail: read.fault }] };
  const sealed: ClientCredentials = { tokenUrl: read.url, clientId, clientSecret, secretIn, ...more };
  const url = shownUrl(new URL(read.url));
  return {
    faults: [],
    credentials: { oauth2: sealed },
    shown: { oauth2: { token_url: url, client_id: clientId, secret_in: secretIn, ...more } },
  };
}

function readCertificateKind(given: Static<typeof certificateOf>, nowMs: number): ReadKind {
  const read = readCertificate(given, nowMs);
  if ('faults' in read) return read;
  const { certificate, shown } = read;
  return { faults: [], credentials: { certificate }, shown: { certificate: shown } };
}

const MOST_HEADERS = 5;
const LONGEST_NAME = 100;
const LONGEST_VALUE = 4_096;

/** RFC 9110, 5.6.2. */
const TOKEN = /^[!#$%&'*+.^_`|~0-9A-Za-z-]+$/;
const PRINTABLE = /^[\x20-\x7e]*$/;

/** Headers that callbacks have already, or that frame a message; a constant `Date` is wrong. */
const RESERVED = new Set(
  [
    'x-service-verification-token user-agent accept-encoding traceparent tracestate date host __proto__',
    'connection keep-alive te trailer trailers transfer-encoding upgrade expect',
  ].flatMap((names) => names.split(' ')),
);
const RESERVED_PREFIXES = ['webhook-', 'x-webhook-', 'content-', 'proxy-'];

const isReserved = (name: string): boolean =>
  RESERVED.has(name) || RESERVED_PREFIXES.some((prefix) => name.startsWith(prefix));

/** Finds faults of the headers for callbacks. No fault shows a value, nor an invalid name. */
export function headerFaults(headers: Readonly<Record<string, unknown>>): Fault[] {
  const entries = Object.entries(headers);
  if (entries.length === 0)
    return [{ pointer: pointTo('headers'), detail: 'has no header: give one, or leave it out' }];
  if (entries.length > MOST_HEADERS)
    return [{ pointer: pointTo('headers'), detail: `has more than ${MOST_HEADERS} headers: give fewer` }];
  const names = entries.map(([name]) => name.toLowerCase());
  return entries.flatMap(([name, value], index) => {
    const isName = TOKEN.test(name) && name.length <= LONGEST_NAME;
    // Name and value may be the wrong way round.
    if (!isName) return [{ pointer: pointTo('headers'), detail: nameDetail(index) }];
    const isTwice = names.indexOf(name.toLowerCase()) < index;
    const detail = isTwice ? 'is there twice: in capitals or not, it is the same header' : headerFault(name, value);
    return detail === null ? [] : [{ pointer: pointTo('headers', name), detail }];
  });
}

const nameDetail = (index: number): string =>
  `has a name, number ${index + 1}, that no header can have: at most ${LONGEST_NAME} letters, digits and - _ . and the like, such as X-Api-Key`;

function headerFault(name: string, value: unknown): string | null {
  if (isReserved(name.toLowerCase()))
    return 'is a header that callbacks have, or may not have: give another, or leave it out';
  if (typeof value !== 'string') return 'must be a string';
  if (value === '') return 'is empty: give a value, or leave the header out';
  if (value.length > LONGEST_VALUE) return `is longer than ${LONGEST_VALUE} characters`;
  if (!PRINTABLE.test(value)) return 'must be visible ASCII characters and blanks, without a line end: encode others';
  return value.trim() === value ? null : 'begins or ends with a blank, which does not arrive: take it out';
}
