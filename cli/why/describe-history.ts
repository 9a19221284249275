import type {
  AttemptEntry,
  DeliveryEntry,
  EventEntry,
  SuppressedVerdict,
  EventVerdict,
  Why,
} from '@waybell/delivery-log/read/entries';
import type { WaitingReason } from '@waybell/line/outcomes';
import { accountCalled, type NameOfAccount } from '../accounts.ts';
import { counted, ruleInWords } from '../in-words.ts';

const LONGEST_EXCERPT = 200;

const NOT_KEYS = new Set(['revision_guid', 'user_guid']);

/** Describes an event and its results, as lines for a terminal. Times are UTC. `now` shows what is late. */
export function describeEvent(entry: EventEntry, nameOf: NameOfAccount, now = Date.now()): string[] {
  const { event, interface: interfaceName, action, at, keys, verdicts } = entry;
  const about = keys.filter(({ kind }) => !NOT_KEYS.has(kind)).map(({ kind, key }) => `${kind} ${key}`);
  return [
    `${timeOf(at)}  ${interfaceName ?? 'unknown interface'} ${action}  event ${event}`,
    ...(about.length === 0 ? [] : [`  about ${about.join(', ')}`]),
    ...verdicts.flatMap((verdict) => describeVerdict(verdict, { nameOf, now }).map((line) => `  ${line}`)),
  ];
}

function describeVerdict(verdict: EventVerdict, { nameOf, now }: { nameOf: NameOfAccount; now: number }): string[] {
  switch (verdict.kind) {
    case 'delivery':
      return describeDelivery(verdict.delivery, nameOf, now);
    case 'suppressed':
      return [`not sent to ${whoIn(verdict, nameOf)}: ${causeOf(verdict)}`, ...advice(verdict)];
    case 'rejected': {
      const what = verdict.delivery === undefined ? 'the event' : `delivery ${verdict.delivery}`;
      return [`${what} was rejected: ${verdict.reason}`, ...indented([verdict.detail]), ...advice(verdict)];
    }
  }
}

/** Describes a delivery and its attempts in chronological order, as lines for a terminal, with the current subscription. */
export function describeDelivery(delivery: DeliveryEntry, nameOf: NameOfAccount, now = Date.now()): string[] {
  const { account, client, attempts, why, deactivation } = delivery;
  const subscription = attempts.at(-1)?.subscription ?? delivery.subscription;
  const story = [
    ...attempts.map((attempt) => ({ at: attempt.at, lines: describeAttempt(attempt, subscription) })),
    ...(deactivation === undefined ? [] : [{ at: deactivation.at, lines: [describeDeactivation(deactivation)] }]),
  ];
  return [
    `delivery ${delivery.delivery}: ${standingOf(delivery, now)}${waitingOf(delivery)}`,
    ...indented([
      `to ${accountCalled(account, nameOf)}, client ${client}, subscription ${subscription}`,
      ...story.toSorted((one, other) => one.at - other.at).flatMap(({ lines }) => lines),
    ]),
    ...(why === undefined ? [] : advice(why)),
  ];
}

function standingOf({ status, at, attempts, nextAttemptAt = at, why, waiting }: DeliveryEntry, now: number): string {
  const tried = attempts.filter(({ durationMs }) => durationMs !== undefined).length;
  const after = tried === 1 ? 'after 1 attempt' : `after ${tried} attempts`;
  switch (status) {
    case 'waiting':
      return `waiting for its first attempt${waiting === undefined && now - at >= LATE_MS ? `, due at ${timeOf(at)}${missed(at, now)}` : ''}`;
    case 'retrying':
      return `not delivered yet, ${after}; the next ${now < nextAttemptAt ? 'is' : 'was'} due at ${timeOf(nextAttemptAt)}${waiting === undefined ? missed(nextAttemptAt, now) : ''}`;
    case 'delivered':
      return `delivered ${after}`;
    case 'exhausted':
      return `given up ${after}`;
    case 'dropped':
    case 'rejected':
      return `${status} ${after}: ${why?.reason ?? ''}`;
  }
}

/** An attempt that is late by more was not just about to be made. Clocks differ by less. */
const LATE_MS = 60_000;

/** Describes an attempt that was due then and has no record. */
function missed(dueAt: number, now: number): string {
  const lateMs = now - dueAt;
  if (lateMs < LATE_MS) return '';
  return `, ${roughly(lateMs)} ago, and no attempt was made: no deliverer has taken it, or RabbitMQ has lost it by a policy (see "./waybell status")`;
}

function roughly(durationMs: number): string {
  const [minutes, hours] = [Math.floor(durationMs / 60_000), Math.floor(durationMs / 3_600_000)];
  if (hours >= 48) return `${Math.floor(hours / 24)} days`;
  return hours >= 2 ? `${hours} hours` : counted(minutes, 'minute');
}

const WAITING: Record<WaitingReason, string> = {
  full: 'the endpoint is at its limit of concurrent requests',
  hung: 'the endpoint is not responding',
  busy: 'the endpoint asked to slow down (429 or 503)',
  paused: 'the subscription is paused',
  stopped: 'the subscription or its host is stopped by an operator',
  egress: 'Waybell has no outbound network',
  open: 'a request is in progress',
  broker: 'buffered in Postgres (RabbitMQ not accepting)',
};

function waitingOf({ waiting }: DeliveryEntry): string {
  return waiting === undefined ? '' : `; waiting since ${timeOf(waiting.since)}: ${WAITING[waiting.why]}`;
}

function describeDeactivation({ at, rule }: NonNullable<DeliveryEntry['deactivation']>): string {
  return `${timeOf(at)}  this switched the subscription off (${ruleInWords(rule)})`;
}

/** Named is its subscription where that is not the one that the delivery goes to now. */
function describeAttempt(attempt: AttemptEntry, current: string): string[] {
  const { at, kind, httpStatus, why, durationMs, url, ip, byHand, waited, answer, subscription } = attempt;
  const came = attempt.brokenRule ?? attempt.error ?? (attempt.location && `to ${attempt.location}`);
  const other = subscription === current ? '' : `  to subscription ${subscription}`;
  if (kind === 'dropped') return [`${timeOf(at)}  no attempt ${attempt.attempt}: ${why?.reason ?? ''}${other}`];
  const facts = [
    httpStatus === undefined ? undefined : String(httpStatus),
    came === undefined ? why?.reason : `${why?.reason}: ${came}`,
    durationMs === undefined ? undefined : `${durationMs} ms${partsOf(attempt)}`,
    url,
    ip === undefined ? undefined : `(${ip})`,
    waited === undefined ? undefined : `waited: ${waited}`,
    byHand,
  ];
  const described = [`${timeOf(at)}  attempt ${attempt.attempt}`, ...facts]
    .filter((fact) => fact !== undefined)
    .join('  ');
  const line = `${described}${other}`;
  return answer === undefined ? [line] : [line, ...indented([`said: ${excerptOf(answer)}`])];
}

/** One line of it: the log has more. */
function excerptOf(answer: string): string {
  const line = answer.replaceAll(/\s+/g, ' ');
  return line.length > LONGEST_EXCERPT ? `${line.slice(0, LONGEST_EXCERPT)} …` : line;
}

/** Time of each part of a request whose connection was made for it. */
function partsOf({ dnsMs, connectMs, tlsMs, firstByteMs }: AttemptEntry): string {
  const parts = Object.entries({ DNS: dnsMs, connect: connectMs, TLS: tlsMs, 'first byte': firstByteMs })
    .filter(([, partMs]) => partMs !== undefined)
    .map(([part, partMs]) => `${part} ${partMs}`);
  return parts.length === 0 ? '' : ` (${parts.join(', ')})`;
}

function whoIn({ account, client, subscription }: SuppressedVerdict, nameOf: NameOfAccount): string {
  if (account === undefined) return 'any account';
  const of = client === undefined ? '' : `, client ${client}, subscription ${subscription ?? 'none'}`;
  return `${accountCalled(account, nameOf)}${of}`;
}

/** The reason, and how it came about. */
function causeOf({ reason, noSubscription }: SuppressedVerdict): string {
  if (noSubscription === undefined) return reason;
  const { cause, subscription, at, rule } = noSubscription;
  const when = at === undefined ? '' : ` ${cause === 'switched_off' ? 'since' : 'at'} ${timeOf(at)}`;
  const which =
    subscription === undefined
      ? ''
      : ` (subscription ${subscription}${rule === undefined ? '' : `, ${ruleInWords(rule)}`})`;
  return `${reason}, ${cause}${when}${which}`;
}

function advice({ meaning, remedy }: Why): string[] {
  return indented([`${meaning} ${remedy}`]);
}

const indented = (lines: string[]): string[] => lines.filter((line) => line !== '').map((line) => `  ${line}`);

export const timeOf = (at: number): string => new Date(at).toISOString().replace('T', ' ').replace('Z', '');
