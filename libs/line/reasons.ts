/** Explains a reason and its remedy, in a sentence or two each. */
export type ReasonMeaning = { meaning: string; remedy: string };

const ANSWER_ITSELF =
  'Some receivers redirect once they have taken a request: look whether it arrived. Answer with a 2xx status; where the receiver cannot, put a relay before it that does.';

/**
 * Reasons of failed attempts: the closed list, in the order in which a request can fail. The deliverer's `failure-reason.ts` says which
 * status and error code has which; a new one that is a timeout is one in its `endpoints/endpoint.ts` too.
 */
export const failureReasons = {
  credentials_unavailable: {
    meaning:
      'The callback could not be authenticated: the token URL gave no access token, and the attempt says what it answered; or TLS does not take the certificate.',
    remedy:
      'Look at that answer. If it refuses the credentials or the certificate, replace those for the host. Otherwise have the token URL give a token in time.',
  },
  dns: {
    meaning: "The callback URL's host name could not be resolved.",
    remedy: 'Publish an A or AAAA record for the name, or subscribe with a name that has one.',
  },
  blocked_address: {
    meaning:
      'The host is, or resolves only to, private or reserved addresses, or the port is that of another well-known protocol: callbacks never go there.',
    remedy: 'Let the name resolve to a public address, and listen on a port for HTTPS.',
  },
  connect_refused: {
    meaning: 'The host refused the connection: nothing listens on that port.',
    remedy: 'Start the receiver, and check the port of the callback URL.',
  },
  connect_timeout: {
    meaning: 'Looking up the host, connecting and agreeing on TLS took longer than the limit.',
    remedy: 'Let the firewall accept connections rather than drop them, and give the receiver room to accept more.',
  },
  unreachable: {
    meaning: "No network route leads to the host's address, or the proxy before it could not connect.",
    remedy: 'Check the address that the name resolves to; an IPv6 address that is not served must not be published.',
  },
  tls_name: {
    meaning: 'The certificate is for other host names than that of the callback URL.',
    remedy: 'Install a certificate that names this host.',
  },
  tls_expired: {
    meaning: 'The certificate, or one of its chain, has expired or is not valid yet.',
    remedy: 'Renew the certificate and reload the receiver.',
  },
  tls_untrusted: {
    meaning:
      'The certificate was not accepted: it does not lead to a known authority (self-signed, a private authority, a missing link), is for another purpose, or is signed too weakly. The attempt says which.',
    remedy: 'Use a certificate of a public authority and send the intermediate certificates with it.',
  },
  tls_failed: {
    meaning:
      'The TLS handshake failed: plain HTTP on the port, no common version or cipher, or a client certificate asked for by TLS 1.2, where that cannot be told apart. The attempt says what OpenSSL said.',
    remedy:
      'Offer TLS 1.2 or newer and HTTP/1.1 on that port. If it asks for a client certificate, add one to the credentials for the host.',
  },
  tls_certificate_required: {
    meaning:
      'The receiver asks for a client certificate: the callback showed none, or one that is not accepted, as of another authority, expired or revoked.',
    remedy:
      'Add one that the receiver accepts to the credentials for the host. If there is one already, look in the log of the receiver for what it refused.',
  },
  handover_timeout: {
    meaning: 'The receiver did not take the whole request within the limit.',
    remedy: 'Read the request as it comes.',
  },
  response_timeout: {
    meaning: 'No complete status and headers came within the limit.',
    remedy: 'Answer as soon as the request is stored, and do the work afterwards.',
  },
  reset: {
    meaning:
      'The connection ended before the status and headers were complete. Where it had been kept from an earlier request, and nothing came, the request was sent again over a new one first.',
    remedy:
      'Look for crashes, limits and idle timeouts in the receiver and in what stands before it. Some servers end the connection so where they do not accept a client certificate.',
  },
  invalid_response: {
    meaning:
      'What came is not a response of HTTP/1.1, or its headers are longer than 64 KiB. The attempt says which rule it breaks, and what came first.',
    remedy: 'Check that the port speaks HTTP/1.1, and what adds to the headers on the way.',
  },
  redirect: {
    meaning: 'The status is 3xx; redirects are never followed. The attempt says where it leads.',
    remedy: ANSWER_ITSELF,
  },
  http_4xx: {
    meaning: 'The status is 4xx: the receiver refused the request.',
    remedy:
      "Look at its answer, and in the receiver's log, for what it refused: path, token, size, rate, or the credentials for the host, a client certificate included.",
  },
  http_5xx: {
    meaning: 'The status is 5xx: the receiver, or a proxy before it, failed.',
    remedy: "Look in the receiver's log for the error.",
  },
  http_other: {
    meaning: 'The status is none that HTTP knows: 600 or more.',
    remedy: 'Answer with a 2xx status.',
  },
  unknown: {
    meaning: 'None of the others. The attempt says what the system said.',
    remedy: "Report it with the delivery's guid: the operator has to look at it.",
  },
} as const satisfies Record<string, ReasonMeaning>;

export type FailureReason = keyof typeof failureReasons;

/** Reasons of dropped deliveries: no subscription, or nothing, to send to any more. */
export const dropReasons = {
  unsubscribed: {
    meaning: 'The subscription had been ended when the attempt was due.',
    remedy: 'Subscribe again; then replay what was dropped, or resend a single delivery.',
  },
  gone: {
    meaning: 'The subscription had ended when the attempt was due, because its receiver had answered 410 (Gone).',
    remedy: 'Subscribe again with a URL that exists; then replay what was dropped, or resend a single delivery.',
  },
  closed: {
    meaning: 'The account had been closed when the attempt was due.',
    remedy:
      'Nothing is wrong where the account was to end. Where not, the operator opens it again; then subscribe again.',
  },
  deactivated: {
    meaning: 'The subscription had been switched off when the attempt was due, because its deliveries only failed.',
    remedy: 'Fix the receiver, switch the subscription on, and replay what was dropped.',
  },
  feature_off: {
    meaning: "The account's feature that the action needs was off when the attempt was due.",
    remedy: 'Have the feature switched on for the account.',
  },
  forgotten: {
    meaning: 'An operator deleted what was to be sent, at the request of the person or company it is about.',
    remedy: 'Nothing is wrong: there is nothing left to send.',
  },
} as const satisfies Record<string, ReasonMeaning>;

export type DropReason = keyof typeof dropReasons;

/** Reasons why an event made no delivery for an account or a client: the closed list. */
export const suppressionReasons = {
  no_subscription: {
    meaning:
      'No subscription to the action was on, for this account and API client, when the event came: there was none, or it had been switched off.',
    remedy: 'Subscribe to the action, or switch its subscription on; then replay what was missed.',
  },
  duplicate: {
    meaning: 'The same event had been published before, and what was to be sent was sent then.',
    remedy: 'Look at the earlier entry of the same event.',
  },
  feature_off: {
    meaning: "The account's feature that the action needs was off when the event came.",
    remedy: 'Have the feature switched on for the account.',
  },
  links_missing: {
    meaning: 'The event came without the links to the documents that it announces: then nothing is sent.',
    remedy: 'Wait for the event that carries the links; upstream publishes it when the documents are there.',
  },
  no_audited_change: {
    meaning: 'None of the fields in the audit_field_set of the subscription had changed.',
    remedy: 'Subscribe with the fields that matter, or without audit_field_set to hear of every change.',
  },
  position_absorbed: {
    meaning: 'The vehicle had not moved far enough since the last position that was sent, or its position was old.',
    remedy: 'Nothing is wrong: a position is sent when it differs by the distance that is set.',
  },
} as const satisfies Record<string, ReasonMeaning>;

export type SuppressionReason = keyof typeof suppressionReasons;

/** Causes of `no_subscription`, for an account or an API client of it, at the time of the event. */
export const noSubscriptionCauses = {
  unknown_account: {
    meaning: 'Waybell did not know the account: it never used the API.',
    remedy:
      'Check the guid that the event names. To receive notifications, an account needs a token and a subscription.',
  },
  never_subscribed: {
    meaning: 'There was no subscription to the action, and there has been none since.',
    remedy: 'Subscribe to the action; then replay what was missed.',
  },
  switched_off: {
    meaning: 'The subscription had been switched off, because its deliveries only failed.',
    remedy: 'Fix the receiver, switch the subscription on, and replay what it missed.',
  },
  ended: {
    meaning:
      'The subscription had ended: by its client, or as its receiver had answered 410 (Gone), where that ends one.',
    remedy: 'Subscribe again; then replay what was missed.',
  },
  subscribed_later: {
    meaning: 'The subscription was made after the event came.',
    remedy: 'Replay what was missed.',
  },
} as const satisfies Record<string, ReasonMeaning>;

export type NoSubscriptionCause = keyof typeof noSubscriptionCauses;

/**
 * Reasons of deliveries given up without a last attempt: they say nothing about the receiver, and count against no subscription.
 */
const unattemptedReasons = {
  expired: {
    meaning: 'The delivery waited longer than a delivery may, because its receiver was slow or something was down.',
    remedy: 'Answer quickly; then resend it.',
  },
  parked_over_limit: {
    meaning: 'More deliveries of the account waited for endpoints that do not answer than an account may have waiting.',
    remedy: 'Let the receiver answer, or unsubscribe; then replay what was given up.',
  },
} as const satisfies Record<string, ReasonMeaning>;

export type UnattemptedReason = keyof typeof unattemptedReasons;

export const unattempted: readonly string[] = Object.keys(unattemptedReasons);

const rejected: ReasonMeaning = {
  meaning: 'The event was refused before anything was sent: it breaks the contract with upstream.',
  remedy: 'Upstream has to fix what the detail names and publish again; operators see it with `./waybell rejected`.',
};

const fixed = 'The operator has to look at it: `./waybell rejected` shows it, and sends it on once the cause is fixed.';

/** Reasons of rejected messages that break no rule: their detail is about Waybell itself. */
const ownFaults = {
  handler_failed: { meaning: 'Waybell failed on it again and again.', remedy: fixed },
  process_killed: { meaning: 'The process that handled it died, again and again.', remedy: fixed },
  newer_format: {
    meaning: 'A later version of Waybell wrote it, or knows its action, and the version that took it does not.',
    remedy: 'The operator sends it on with `./waybell rejected`, once all services are of that version.',
  },
  unbound: { meaning: 'The broker has no queue for what it causes.', remedy: fixed },
  dead_lettered: { meaning: 'RabbitMQ took it out of the queue in which it waited, as by a policy.', remedy: fixed },
  too_large_for_broker: {
    meaning: 'What it causes is larger than the broker takes (its setting max_message_size).',
    remedy: fixed,
  },
} as const satisfies Record<string, ReasonMeaning>;

/** True if the message itself is not at fault. */
export const isOwnFault = (rejectionReason: string): boolean => Object.hasOwn(ownFaults, rejectionReason);

/** All reasons, by kind. Events are rejected for many more, which their details explain. */
export const reasonTables: Record<ReasonKind, Partial<Record<string, ReasonMeaning>>> = {
  failed: { ...failureReasons, ...unattemptedReasons },
  dropped: dropReasons,
  suppressed: suppressionReasons,
  rejected: ownFaults,
};

/** Remedies of TLS by OpenSSL's code, or by its words for certificates that it finds no code for. */
const TLS_REMEDIES: readonly [RegExp, string][] = [
  [
    /TOO_(?:SMALL|WEAK)|INSUFFICIENT_SECURITY|too (?:small|weak)/i,
    'Too weak: use keys of 2,048 bits (RSA, DH) or 256 bits (elliptic curves) at least, and SHA-256 in the certificate and all of its chain.',
  ],
  [/PROTOCOL_VERSION|UNSUPPORTED_PROTOCOL|VERSION_TOO_LOW|FALLBACK/, 'Offer TLS 1.2 or newer on that port.'],
  [
    /WRONG_VERSION_NUMBER|HTTP_REQUEST|PACKET_LENGTH|RECORD_LAYER/,
    'What answers there does not speak TLS: let the port serve https, or subscribe with the port that does.',
  ],
  [
    /LEGACY_RENEGOTIATION/,
    'Update the TLS of the receiver, or of what stands before it: it lacks secure renegotiation (RFC 5746).',
  ],
  [
    /HANDSHAKE_FAILURE|NO_SHARED_CIPHER|NO_CIPHER/,
    'Offer a common cipher, such as ECDHE with AES-GCM, by TLS 1.2 or newer. If the receiver asks for a client certificate, add one to the credentials for the host.',
  ],
  [/UNRECOGNIZED_NAME/, 'Let the receiver serve the host of the callback URL: it does not know that name (SNI).'],
  [/NO_APPLICATION_PROTOCOL/, 'Offer HTTP/1.1 on that port (ALPN).'],
];

type FailedFacts = { reason: string | null; error: string | null; url: string | null; location: string | null };

/** Returns the remedy that fits what came in a failed attempt, where the reason alone does not show it. */
export function closerRemedy({ reason, error, url, location }: FailedFacts): string | undefined {
  if (reason === 'redirect' && location !== null) {
    return isSamePlace(URL.parse(url ?? ''), URL.parse(location)) ? 'Subscribe with the final URL.' : ANSWER_ITSELF;
  }
  if (error === null || !reason?.startsWith('tls_')) return undefined;
  return TLS_REMEDIES.find(([pattern]) => pattern.test(error))?.[1];
}

/** The same host and path, but for https or a slash at the end. */
function isSamePlace(one: URL | null, other: URL | null): boolean {
  const placeOf = (url: URL | null) => url && `${url.hostname}${url.pathname.replace(/\/$/, '')}`;
  return placeOf(one) === placeOf(other);
}

export type ReasonKind = 'failed' | 'dropped' | 'suppressed' | 'rejected';

/** Explains a reason, also one that this version does not know. */
export function meaningOf(kind: ReasonKind, reason: string): ReasonMeaning {
  return reasonTables[kind][reason] ?? (kind === 'rejected' ? rejected : failureReasons.unknown);
}

/** Reasons why deliveries failed or were dropped; not those of rejections. */
export const deliveryReasons: readonly string[] = Object.keys({ ...reasonTables.failed, ...reasonTables.dropped });
