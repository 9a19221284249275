/** Calls of the API that keep a receiver subscribed. Needs `fetch` and nothing of Node. */
import type { KeptSubscription } from './kept-subscription.ts';

/** Each call rejects with an `ApiFailure`; without a request, for as long as the API wants to be left alone after a 429. */
export type AskWaybell = {
  secrets: () => Promise<string[]>;
  put: (wanted: WantedSubscriptions) => Promise<PutEntry[]>;
  subscription: (guid: string) => Promise<FetchedSubscription>;
  test: (guid: string) => Promise<TestAnswered>;
  switchOn: (guid: string) => Promise<FetchedSubscription>;
  /** If several replicas want it at once, one gets it, and the others are answered 409. */
  replayMissed: (guid: string, perSecond: number) => Promise<{ total: number }>;
};

export type WantedSubscriptions = {
  callback_url: string;
  actions: readonly string[];
  audit_field_set?: readonly string[];
};

/** The result of an action in the request. */
export type PutEntry = {
  action: string;
  result: 'created' | 'changed' | 'unchanged' | 'refused';
  subscription?: FetchedSubscription;
  problem?: FetchedProblem;
};

/** A receiver's answer to a test. */
export type TestAnswered = { status: string; reason?: string; meaning?: string };

export type FetchedSubscription = KeptSubscription & { verification_token?: string };

type FetchedProblem = { type?: string; detail?: string };
type Wrapped<T> = T & { data?: T };
type FailedCall = 'unreachable' | 'no_rights' | 'too_many_requests' | 'not_taken';

/** The API did not answer, or not with success. */
export class ApiFailure extends Error {
  override name = 'ApiFailure';
  readonly reason: FailedCall;
  readonly status: number;
  /** How long to leave the API alone. */
  readonly waitMs: number;

  constructor(
    reason: FailedCall,
    detail: string,
    { status = 0, waitMs = 0 }: { status?: number; waitMs?: number } = {},
  ) {
    super(detail);
    this.reason = reason;
    this.status = status;
    this.waitMs = waitMs;
  }
}

const WITHIN_MS = 30_000;
/** The API answers a test when the receiver has answered, which may take a minute. */
const TEST_WITHIN_MS = 90_000;

export function askWaybell({
  api,
  token,
  signal,
}: {
  api: string | URL;
  token: string | (() => string | Promise<string>);
  /** Aborts requests under way. */
  signal: AbortSignal;
}): AskWaybell {
  const base = new URL(String(api).replace(/\/*$/, '/'));
  let paused: { until: number; failure: ApiFailure } | undefined;

  const ask = async <T>(method: string, path: string, body?: object, withinMs = WITHIN_MS): Promise<T> => {
    if (paused !== undefined && paused.until > Date.now()) throw paused.failure;
    const { answer, text } = await fetchWithin(withinMs, signal, async (ending) => {
      const authorization = `Bearer ${typeof token === 'function' ? await token() : token}`;
      const response = await fetch(new URL(path, base), {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json; charset=utf-8' }) },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: ending,
      });
      return { answer: response, text: await response.text() };
    });
    // The shapes are those of openapi.json.
    if (answer.ok) return readJson(text) as T;
    const failure = failureOf(answer, text);
    if (failure.waitMs > 0) paused = { until: Date.now() + failure.waitMs, failure };
    throw failure;
  };

  const one = async <T>(asked: Promise<Wrapped<T & { object?: T }>>): Promise<T> => {
    const answer = await asked;
    return answer.data?.object ?? answer;
  };
  const several = async <T>(asked: Promise<Wrapped<{ objects?: T[] }>>): Promise<T[]> => {
    const answer = await asked;
    const objects = answer.data?.objects ?? answer.objects;
    if (!Array.isArray(objects)) throw new ApiFailure('not_taken', `${base.href} did not answer as Waybell does`);
    return objects;
  };
  const of = (guid: string, what = '') => `v1/subscriptions/${guid}${what}`;

  return {
    async secrets() {
      const secrets = await several<{ secret: string }>(ask('GET', 'v1/signing-secrets'));
      return secrets.map(({ secret }) => secret);
    },
    put: (wanted) => several<PutEntry>(ask('PUT', 'v1/subscriptions', wanted)),
    subscription: (guid) => one<FetchedSubscription>(ask('GET', of(guid))),
    test: (guid) => one<TestAnswered>(ask('POST', of(guid, '/test'), {}, TEST_WITHIN_MS)),
    switchOn: (guid) => one<FetchedSubscription>(ask('PATCH', of(guid), { is_active: true })),
    replayMissed: (guid, perSecond) =>
      one<{ total: number }>(
        ask('POST', 'v1/replays', { subscription_guid: guid, missed: true, per_second: perSecond }),
      ),
  };
}

/** Aborts the work after this long, or with the signal. No `AbortSignal.any`: Node 20 keeps what it makes for as long as the signal. */
async function fetchWithin<T>(
  withinMs: number,
  signal: AbortSignal,
  work: (ending: AbortSignal) => Promise<T>,
): Promise<T> {
  const ending = new AbortController();
  const end = () => ending.abort(new Error('closed'));
  const timer = setTimeout(() => ending.abort(new Error(`no answer after ${withinMs / 1_000} s`)), withinMs);
  signal.addEventListener('abort', end);
  if (signal.aborted) end();
  try {
    return await work(ending.signal);
  } catch (error) {
    throw new ApiFailure('unreachable', causeOf(error));
  } finally {
    clearTimeout(timer);
    signal.removeEventListener('abort', end);
  }
}

/** The message `fetch failed` says nothing: its cause does. */
function causeOf(error: unknown): string {
  const { message, cause } = Object(error) as { message?: string; cause?: { message?: string; code?: string } };
  return cause?.message || cause?.code || message || String(error);
}

const REASONS: Readonly<Record<number, FailedCall>> = {
  401: 'no_rights',
  403: 'no_rights',
  429: 'too_many_requests',
  500: 'unreachable',
  502: 'unreachable',
  503: 'unreachable',
  504: 'unreachable',
};
const MOST_WAIT_S = 300;

function failureOf({ status, headers }: Response, text: string): ApiFailure {
  const { detail = '' } = problemIn(text);
  const seconds = Number(headers.get('retry-after') ?? 0);
  const waitMs = status === 429 ? Math.min(MOST_WAIT_S, Math.max(1, seconds || 0)) * 1_000 : 0;
  return new ApiFailure(REASONS[status] ?? 'not_taken', `${status}: ${detail}`, { status, waitMs });
}

/** Its `detail` names everything that is wrong, and where. */
function problemIn(text: string): FetchedProblem {
  try {
    // A proxy may answer anything.
    const body = JSON.parse(text) as FetchedProblem | null;
    return body ?? {};
  } catch {
    return {};
  }
}

function readJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    throw new ApiFailure('not_taken', 'the answer is not JSON: is it the address of the API?');
  }
}
