/** Views of the delivery log for clients: events, deliveries, attempts, and the request that a receiver was sent. */
import { columnNameOf } from '@waybell/delivery-log/tables';
import type {
  AttemptEntry,
  DeliveryEntry,
  EventEntry,
  SuppressedVerdict,
  EventVerdict,
  Why,
} from '@waybell/delivery-log/read/entries';
import { isMade } from '@waybell/delivery-log/read/history';

/** An event, and its results for the client. */
export function eventView({ event, action, at, keys, verdicts }: EventEntry) {
  return { event_guid: event, action, at: moment(at), keys, verdicts: verdicts.map(verdictView) };
}

/** An event's result for the client. */
export function verdictView(verdict: EventVerdict) {
  switch (verdict.kind) {
    case 'delivery':
      return { kind: 'delivery', delivery: deliveryView(verdict.delivery) };
    case 'suppressed':
      return { kind: 'suppressed', ...whyView(verdict), ...causeView(verdict) };
    case 'rejected':
      return { kind: 'rejected', ...whyView(verdict), detail: verdict.detail };
  }
}

/** The subscription or, without one, the cause. */
function causeView({ subscription, noSubscription }: SuppressedVerdict) {
  return {
    subscription_guid: subscription ?? noSubscription?.subscription,
    cause: noSubscription?.cause,
    cause_at: moment(noSubscription?.at),
    rule: noSubscription?.rule,
  };
}

/** A delivery with its attempts, without what receivers answered: that would swell a list. */
export function deliveryView(entry: DeliveryEntry) {
  const { why, nextAttemptAt, waiting, deactivation } = entry;
  return {
    guid: entry.delivery,
    event_guid: entry.event,
    action: entry.action,
    keys: entry.keys,
    subscription_guid: entry.subscription,
    at: moment(entry.at),
    status: entry.status,
    ...whyView(why),
    next_attempt_at: moment(nextAttemptAt),
    waiting: waiting && { since: moment(waiting.since), why: waiting.why },
    deactivation: deactivation && { at: moment(deactivation.at), rule: deactivation.rule },
    attempts: entry.attempts.map(attemptView),
  };
}

/** A delivery with all that is known of it. */
export function deliveryDetailView(entry: DeliveryEntry, request: SentRequest) {
  return {
    ...deliveryView(entry),
    attempts: entry.attempts.map((attempt) => ({ ...attemptView(attempt), answer: attempt.answer })),
    request,
    curl: asCurl(request),
  };
}

/** An attempt as its row has it, without what the receiver answered. */
export function attemptView({
  at,
  retryAt,
  why,
  subscription: _subscription,
  answer: _answer,
  ...facts
}: AttemptEntry) {
  // Only operators may know the address of a name inside their network.
  const isHidden = (member: string) => member === 'ip' && why?.reason === 'blocked_address';
  const shown = Object.entries(facts).filter(([member]) => !isHidden(member));
  const named = Object.fromEntries(shown.map(([member, value]) => [columnNameOf(member), value]));
  return { ...named, at: moment(at), ...whyView(why), retry_at: moment(retryAt) };
}

/** A reason alone: its entry may hold more. */
function whyView(why: Why | undefined) {
  return why && { reason: why.reason, meaning: why.meaning, remedy: why.remedy };
}

/** Formats a time as RFC 3339. */
export const moment = (at: number | undefined) => (at === undefined ? undefined : new Date(at).toISOString());

/** The request that a receiver was or will be sent, without secrets. Leaves out credentials: past ones are not stored. */
type SentRequest = {
  method: 'POST';
  /** Null while no attempt was made. */
  url: string | null;
  headers: Record<string, string>;
  body: string | null;
  body_state: 'kept' | 'not_sent' | 'no_longer_kept';
};

const MASK = '***';

/** Variables for a shell command in place of masked values. */
const SECRET_HEADERS: Partial<Record<string, string>> = {
  'x-service-verification-token': 'VERIFICATION_TOKEN',
  'webhook-signature': 'WEBHOOK_SIGNATURE',
};

/** The request of the last attempt, as the deliverer makes it (docs/receiving.md). */
export function sentRequest({ delivery, attempts }: DeliveryEntry, body: string | undefined): SentRequest {
  const last = attempts.findLast(isMade);
  return {
    method: 'POST',
    url: last?.url ?? null,
    headers: {
      'content-type': 'application/json; charset=utf-8',
      'accept-encoding': 'identity',
      'x-service-verification-token': MASK,
      'x-webhook-attempt': String((last ?? attempts.at(-1))?.attempt ?? 1),
      ...(attempts.some(({ byHand }) => byHand === 'test') ? { 'x-webhook-test': 'true' } : {}),
      'webhook-id': delivery,
      ...(last === undefined ? {} : { 'webhook-timestamp': String(beganAtS(last)) }),
      'webhook-signature': MASK,
    },
    body: body ?? null,
    body_state: body === undefined ? (attempts.length === 0 ? 'not_sent' : 'no_longer_kept') : 'kept',
  };
}

const beganAtS = ({ at, durationMs = 0 }: AttemptEntry): number => Math.floor((at - durationMs) / 1_000);

/** The request as a command for a shell, with secrets as variables; null where its body is not known. */
export function asCurl({ url, headers, body }: SentRequest): string | null {
  if (body === null) return null;
  const lines = Object.entries(headers).map(([name, value]) => {
    const secret = SECRET_HEADERS[name];
    return `--header ${quoted(`${name}: ${secret === undefined ? value : ''}`)}${secret === undefined ? '' : variable(secret)}`;
  });
  return [`curl --globoff --request POST ${urlWord(url)}`, ...lines, `--data-raw ${quoted(body)}`].join(' \\\n  ');
}

function urlWord(url: string | null): string {
  if (url === null) return variable('CALLBACK_URL');
  const queryAt = url.indexOf('?');
  if (queryAt === -1) return quoted(url);
  const [first = '', ...others] = url.slice(queryAt).split(MASK);
  const values = others.map((text, index) => `${variable(`QUERY_${index + 1}`)}${text === '' ? '' : quoted(text)}`);
  return [quoted(url.slice(0, queryAt) + first), ...values].join('');
}

const variable = (name: string): string => `"$${name}"`;

/** A word in which a shell expands nothing. */
const quoted = (text: string): string => `'${text.replaceAll("'", String.raw`'\''`)}'`;
