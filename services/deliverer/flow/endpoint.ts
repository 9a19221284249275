import { hash } from 'node:crypto';
import type { EndpointRoom } from '@waybell/line/delivery';
import type { HoldReason, Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';

/** How fast a request was answered; `hung`: not in time. */
export type ResponseSpeed = 'quick' | 'slow' | 'hung';

/** An endpoint: an account's scheme, host, port and path. */
export type EndpointKey = {
  account: string;
  /** 32 hexadecimal digits: a path may hold secrets. */
  endpoint: string;
  /** Scheme, host and port. */
  host: string;
};

/**
 * An answer of 429 or 503. `askedMs`: how long the endpoint asks to be left alone. `retryMs`: when the refused delivery's
 * next attempt is due, from now; absent after the last.
 */
export type TooMuch = { askedMs?: number; retryMs?: number | undefined };

/**
 * The delivery that a request is for: from a queue, new (`fresh`) or with attempts behind it (`retry`); one that waited in the
 * endpoint's room; by hand, which never waits there; or a suspect, which never probes an endpoint that hangs.
 */
export type RequestOrigin = WaitingOrigin | 'suspect';

/** Origins whose requests may wait in hand. */
export type WaitingOrigin = 'fresh' | 'retry' | 'waited' | 'by hand';

/** Permission to make one request, to be ended once. */
export type GrantedRequest = {
  readonly kind: 'granted';
  end(speed: ResponseSpeed | 'unused', tooMuch?: TooMuch): void;
};

/** Permission, or why there is none now. */
export type Admission = GrantedRequest | { readonly kind: 'full'; readonly why: 'full' | 'hung' | 'busy' };

/** `onAdmitted` throws nothing. It is called at once where that is decided now, else later. */
export type Admit = (key: EndpointKey, origin: RequestOrigin, onAdmitted: (admission: Admission) => void) => void;

/**
 * Number of deliveries that an endpoint can take now out of its room, in addition to those in hand. `askAt`: when to ask again at
 * the latest, in milliseconds of the clock. `lacksSlot`: it could take some if others did not hold all the slots that it may
 * have.
 */
export type Demand = { rows: number; askAt?: number; lacksSlot?: true };

/** The same as `waybell.room_of(account, url)` in Postgres: the first 16 bytes of a SHA-256. */
export function endpointKey({ account, callbackUrl }: { account: string; callbackUrl: string }): EndpointKey {
  const called = withoutQuery(callbackUrl);
  const endpoint = hash('sha256', `${account} ${called}`, 'hex').slice(0, 32);
  return { account, endpoint, host: hostOf(called) };
}

/** Deliveries of a subscription wait. `until`: milliseconds since the epoch; absent: until an operator starts it again. */
export type Hold = { why: HoldReason; until?: number };

/**
 * Returns the room in which deliveries of a subscription wait: that of the endpoint or, while it is held, one of its own, named
 * by its guid.
 */
export function roomOf(
  target: { account: string; callbackUrl: string },
  { subscription, hold }: { subscription: string; hold: Hold | undefined },
): EndpointRoom {
  const { account } = target;
  return { account, room: hold === undefined ? endpointKey(target).endpoint : subscription.replaceAll('-', '') };
}

/** Scheme, host and port. Not by `URL`: parsing one for each attempt would cost more than all else here. */
export function hostOf(callbackUrl: string): string {
  const called = withoutQuery(callbackUrl);
  const pathAt = called.indexOf('/', called.indexOf('//') + 2);
  return pathAt === -1 ? called : called.slice(0, pathAt);
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}

/** Returns the text as a string of its own: one cut out of another keeps the whole of that in memory. */
export function ownCopy(text: string): string {
  return Buffer.from(text).toString();
}

const TIMEOUTS: ReadonlySet<string> = new Set<FailureReason>([
  'connect_timeout',
  'handover_timeout',
  'response_timeout',
]);

export const isTimeout = (reason: FailureReason | undefined): boolean => reason !== undefined && TIMEOUTS.has(reason);

/** An ordinary failure is an answer too; only timeouts are none, be it of the receiver or of its token URL. */
export function responseSpeed(
  { durationMs, reason, isHung }: Answer & { isHung?: true },
  slowMs: number,
): ResponseSpeed {
  if (isHung || isTimeout(reason)) return 'hung';
  return durationMs <= slowMs ? 'quick' : 'slow';
}
