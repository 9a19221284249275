import { hash } from 'node:crypto';

/** How a request went: answered at once, answered but slowly, or with nothing but waiting to show for it. */
export type Ending = 'quick' | 'slow' | 'hung';

/** What is called: an account's scheme, host, port and path. */
export type EndpointKey = {
  account: string;
  /** 32 hexadecimal digits: a path may hold secrets. */
  endpoint: string;
  /** Scheme, host and port. */
  host: string;
  /** The owner of its parked deliveries found last that it hangs: what a process that does not know it begins with. */
  isKnownHung?: boolean;
};

/**
 * The endpoint answered 429 or 503: it is to be left alone, for as long as it asks for, where it says so. `retryMs`: when
 * the next attempt at what it refused is due, from now; none is after the last.
 */
export type TooMuch = { askedMs?: number; retryMs?: number | undefined };

/**
 * The origin of a wish for a request: a delivery from a queue, new or with attempts behind it (`retry`), a parked one,
 * one sent by hand, which never parks; or a suspect, which is no probe of an endpoint that hangs.
 */
export type Wish = PatientWish | 'suspect';

/** Wishes that may wait in hand for a turn. */
export type PatientWish = 'fresh' | 'retry' | 'parked' | 'by hand';

/** Leave to make one request, to be ended once; or why there is none now. */
export type Entry =
  | { kind: 'granted'; end: (ending: Ending | 'unused', tooMuch?: TooMuch) => void }
  | { kind: 'full'; why: 'full' | 'hung' | 'busy' };

/** How many parked deliveries of an endpoint are wanted now, beside those in hand; and when to ask again, in milliseconds of the clock, if not before. */
export type Room = { rows: number; askAt?: number };

/** The same as `waybell.endpoint_of(account, url)` in Postgres: the first 16 bytes of a SHA-256. */
export function endpointKey({ account, callbackUrl }: { account: string; callbackUrl: string }): EndpointKey {
  const called = withoutQuery(callbackUrl);
  const endpoint = hash('sha256', `${account} ${called}`, 'hex').slice(0, 32);
  return { account, endpoint, host: hostOf(called) };
}

/** Scheme, host and port. By hand: parsing a URL for each attempt would cost more than everything else that is done with it here. */
export function hostOf(callbackUrl: string): string {
  const called = withoutQuery(callbackUrl);
  const pathAt = called.indexOf('/', called.indexOf('//') + 2);
  return pathAt === -1 ? called : called.slice(0, pathAt);
}

function withoutQuery(url: string): string {
  const query = url.indexOf('?');
  return query === -1 ? url : url.slice(0, query);
}
