import { request as requestHttp, type IncomingMessage } from 'node:http';
import { request as requestHttps } from 'node:https';
import { callFailure } from '../http/certificates.ts';
import { proxyHint } from '../http/use-proxy.ts';

/** A callback to be made: headers as they were sent to the listener, body to the byte. */
export type Callback = { headers: Record<string, string>; body: Buffer };

/** The result of forwarding: `status` and `body` to answer with; `trouble`: why they are not the local server's. */
type Forwarded = { status: number; body: string; tookMs: number; trouble?: string };

/** A forwarded callback, as it is printed. */
export type ForwardedCallback = {
  at: string;
  action: string;
  delivery_guid: string;
  attempt: number;
  is_test: boolean;
  url: string;
  status: number;
  took_ms: number;
  trouble?: string;
};

/** The API's limit of an answer's body. */
const KEPT_CHARACTERS = 16_384;

/** Makes the request at another URL. Redirects are not followed, as deliverers follow none. Whatever goes wrong is an answer, too. */
export async function forward({ headers, body }: Callback, to: URL, limitMs: number): Promise<Forwarded> {
  const begunAt = performance.now();
  const signal = AbortSignal.timeout(limitMs);
  const ended = (status: number, text: string, trouble?: string): Forwarded => ({
    status,
    body: text,
    tookMs: Math.round(performance.now() - begunAt),
    ...(trouble !== undefined && { trouble }),
  });
  try {
    const response = await answered(to, { headers, body, signal });
    return ended(response.statusCode ?? 502, await beginningOf(response));
  } catch (error) {
    const [status, trouble] = troubleOf(error, { to, limitMs, isLate: signal.aborted });
    return ended(status, `waybell listen: ${trouble}`, trouble);
  }
}

function answered(to: URL, { headers, body, signal }: Callback & { signal: AbortSignal }): Promise<IncomingMessage> {
  const request = to.protocol === 'https:' ? requestHttps : requestHttp;
  return new Promise((resolve, reject) => {
    const options = { method: 'POST', headers: { ...headers, 'content-length': body.length }, signal };
    request(to, options, resolve).once('error', reject).end(body);
  });
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  let text = '';
  response.setEncoding('utf8');
  for await (const chunk of response) {
    text += String(chunk);
    if (text.length >= KEPT_CHARACTERS) break;
  }
  // The API takes no NUL.
  return text.slice(0, KEPT_CHARACTERS).replaceAll('\0', '\uFFFD').toWellFormed();
}

function troubleOf(
  error: unknown,
  { to, limitMs, isLate }: { to: URL; limitMs: number; isLate: boolean },
): [status: number, trouble: string] {
  if (isLate) return [504, `no answer within ${limitMs / 1_000} s`];
  const failure = error as NodeJS.ErrnoException;
  const hint = proxyHint(to, process.env);
  if (failure.code === 'ECONNREFUSED' && hint === '') return [502, `refused: nothing listens at ${to.host}`];
  return [502, `failed: ${callFailure(failure)}${hint}`];
}

export function forwardedCallback(
  { headers, body }: Callback,
  url: URL,
  forwarded: Forwarded,
  now: Date,
): ForwardedCallback {
  const { status, tookMs, trouble } = forwarded;
  return {
    at: now.toISOString(),
    action: actionIn(body),
    delivery_guid: headers['webhook-id'] ?? '',
    attempt: Number(headers['x-webhook-attempt'] ?? 1),
    is_test: headers['x-webhook-test'] === 'true',
    url: url.href,
    status,
    took_ms: tookMs,
    ...(trouble !== undefined && { trouble }),
  };
}

/** One line: `09:30:00  order.created  3f1c…  → POST http://localhost:3000/hook  200 in 12 ms`. */
export function describeForwarded({
  at,
  action,
  delivery_guid,
  attempt,
  is_test,
  url,
  ...answer
}: ForwardedCallback): string {
  const marks = [...(is_test ? ['test'] : []), ...(attempt > 1 ? [`attempt ${attempt}`] : [])];
  const { status, took_ms, trouble } = answer;
  return [
    at.slice('2026-11-20T'.length, '2026-11-20T09:30:00'.length),
    action,
    delivery_guid,
    `→ POST ${url}`,
    trouble ?? `${status} in ${took_ms} ms`,
    ...(marks.length === 0 ? [] : [`(${marks.join(', ')})`]),
  ].join('  ');
}

function actionIn(body: Buffer): string {
  // Deliverers send JSON with an action.
  const { action } = JSON.parse(body.toString()) as { action?: unknown };
  return typeof action === 'string' ? action : 'unknown action';
}
