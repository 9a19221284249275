import { open } from 'node:fs/promises';
import { devNull } from 'node:os';
import type { AxiosResponse } from 'axios';
import { type NoResult, noResult } from '@waybell/line/messages';
import type { Answer } from '@waybell/line/outcomes';
import type { FailureReason } from '@waybell/line/reasons';
import { type CallbackHeaders, shownUrl } from '@waybell/notifications/callback';
import type { Clock } from '@waybell/runtime/clock';
import { withCauses } from '@waybell/runtime/error-codes';
import { Unavailable } from '@waybell/runtime/unavailable';
import type { Credentials } from '../credentials/credentials.ts';
import { isOwnFault, type OwnRoutes } from '../egress/egress.ts';
import type { AttemptResult } from './attempt.ts';
import type { Connection } from './connection.ts';
import { textOfPage, readTooMuch, noteTimes, type Trace } from './trace.ts';
import { type RequestLimits, InvalidResponse } from './exchange.ts';
import { errorTextOf, isForLackOfDescriptors, reasonOfError, reasonOfStatus } from './failure-reason.ts';
import { masked, secretsOfQuery, maskedHead } from './mask.ts';
import { BlockedAddress } from './connect.ts';

/** A request as it was sent. `url`: null if the callback URL is not valid. */
export type RequestMade = {
  url: URL | null;
  headers: Partial<CallbackHeaders>;
  credentials?: Pick<Credentials, 'secrets'> | undefined;
  accessToken?: string | undefined;
  limits: Pick<RequestLimits, 'keptBytes'>;
  trace: Trace;
};

export type Observing = { routes: OwnRoutes; clock: Pick<Clock, 'now'>; now: () => number };

/** Reads the result of a request that was answered. Never throws. */
export function resultOf(
  { status, data }: AxiosResponse<string>,
  sent: RequestMade,
  { routes, clock, now }: Observing,
): AttemptResult | NoResult {
  const { connection, restHeaders, location } = sent.trace;
  try {
    if (connection?.ip !== undefined) routes.reached(connection.ip);
    const result: AttemptResult = judge(status);
    noteTimes(result, sent.trace, clock.now());
    if (sent.url !== null) result.url = shownUrl(sent.url);
    if (location !== undefined) result.location = masked(shownLocation(location, sent.url), secretsIn(sent));
    if (restHeaders !== undefined) result.tooMuch = readTooMuch(restHeaders, now());
    if (data !== '') result.body = masked(textOfPage(data).slice(0, sent.limits.keptBytes), secretsIn(sent));
    return result;
  } catch (error) {
    return noResult(error);
  }
}

/** Reads the result of a request without an answer. Rejects with `Unavailable` if there was no way out. */
export async function failureOf(error: unknown, sent: RequestMade, observing: Observing): Promise<AttemptResult> {
  if (error instanceof Unavailable) throw error;
  if (isForLackOfDescriptors(error)) throw new Unavailable('file descriptors', openOne, error);
  const { url, trace } = sent;
  // Another address of its host may be well.
  trace.connection?.avoid?.();
  const result: AttemptResult = { isDelivered: false, reason: reasonOf(error, trace.connection), durationMs: 0 };
  noteTimes(result, trace, observing.clock.now());
  const isRefusal = result.reason === 'tls_certificate_required' && isOfReceiver(trace.connection);
  const lostAt = isRefusal ? undefined : await whereLost(error, trace, observing.routes);
  const said = errorTextOf(error);
  return {
    ...result,
    ...(said !== undefined && { error: said }),
    ...(url !== null && { url: shownUrl(url) }),
    ...(lostAt && { lostAt }),
    ...(trace.received && { body: maskedHead(masked(trace.received, secretsIn(sent))) }),
    ...brokenRuleIn(error),
  };
}

/** While TLS is agreed on, an error that is not known is one of TLS. */
function reasonOf(error: unknown, connection: Connection | undefined): FailureReason {
  const reason = reasonOfError(error);
  if (reason !== 'unknown') return reason;
  if (connection?.isUntrusted) return 'tls_untrusted';
  return connection?.isSecuring ? 'tls_failed' : reason;
}

const LONGEST_LOCATION = 2_048;

function shownLocation(location: string, base: URL | null): string {
  const url = URL.parse(location, base?.href);
  const isOfWeb = url !== null && ['http:', 'https:'].includes(url.protocol);
  // Other addresses may hold secrets anywhere: no more is shown than what they begin with.
  const shown = isOfWeb ? shownUrl(url) : (url?.protocol ?? location.split(/[?#@]/, 1).join(''));
  return shown.slice(0, LONGEST_LOCATION);
}

function brokenRuleIn(error: unknown): Pick<Answer, 'brokenRule'> {
  const invalid = withCauses(error).find((each) => each instanceof InvalidResponse);
  return invalid === undefined ? {} : { brokenRule: invalid.brokenRule };
}

async function whereLost(error: unknown, trace: Trace, routes: OwnRoutes): Promise<AttemptResult['lostAt']> {
  if (trace.isUnderWay) return 'sent';
  if (trace.connection === undefined || (error instanceof BlockedAddress && !error.isOfName)) return undefined;
  return (await isOwnFault(error, routes)) ? 'here' : 'connecting';
}

/** Whether an alert is the receiver's: one that comes before its certificate may be of what stands in between. */
function isOfReceiver(connection: Connection | undefined): boolean {
  return connection?.securedAt !== undefined || connection?.hasShownItself === true;
}

/** Resolves when a file descriptor is free. */
async function openOne(): Promise<void> {
  await (await open(devNull)).close();
}

/** Judges a response by its status, as if it took no time. */
export function judge(status: number): AttemptResult {
  if (status >= 200 && status < 300) return { isDelivered: true, status, durationMs: 0 };
  return { isDelivered: false, status, reason: reasonOfStatus(status), durationMs: 0 };
}

/** Secrets that a receiver was sent and may send back. People who read records must not see them. */
function secretsIn({ headers, url, credentials, accessToken = '' }: RequestMade): string[] {
  const { 'X-Service-Verification-Token': token = '', 'webhook-signature': signature = '' } = headers;
  // A receiver may show a signature without its version.
  const secrets = signature.split(' ').map((each) => each.slice(each.indexOf(',') + 1));
  secrets.push(token, accessToken);
  if (credentials !== undefined) secrets.push(...credentials.secrets);
  return url === null || url.search === '' ? secrets : secrets.concat(secretsOfQuery(url.search));
}
