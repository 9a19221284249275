/** Calls of the API that keep a receiver subscribed. Needs `fetch` and nothing of Node. */
import type { KeptSubscription } from './kept-subscription.ts';

export type AskOptions = {
  api: string | URL;
  token: string | (() => string | Promise<string>);
  /** Aborts requests under way. */
  signal: AbortSignal;
};

/** The result of an action in the request. */
export type PutEntry = {
  action: string;
  result: 'created' | 'changed' | 'unchanged' | 'refused';
  subscription?: ToldSubscription;
  problem?: ToldProblem;
};

export type WantedSubscriptions = {
  callback_url: string;
  actions: readonly string[];
  audit_field_set?: readonly string[];
};

/** A receiver's answer to a test. */
export type Tested = { status: string; reason?: string; meaning?: string };

export type ToldSubscription = KeptSubscription & { verification_token?: string };
type ToldProblem = { type?: string; detail?: string };
type Wrapped<T> = T & { data?: T };
type FailedCall = 'unreachable' | 'no_rights' | 'too_many_requests' | 'not_taken';

/** The API gave no answer, or not the one hoped for. */
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
/** A test is answered once its receiver has, which may take a minute. */
const TEST_WITHIN_MS = 90_000;

/** Each call rejects with an `ApiFailure`. While the API wants to be left alone, it is. */
export type AskWaybell = {
  secrets: () => Promise<string[]>;
  put: (wanted: WantedSubscriptions) => Promise<PutEntry[]>;
  subscription: (guid: string) => Promise<ToldSubscription>;
  test: (guid: string) => Promise<Tested>;
  switchOn: (guid: string) => Promise<ToldSubscription>;
  /** If several ask, one replays it: the others are answered 409. */
  replayMissed: (guid: string, perSecond: number) => Promise<{ total: number }>;
};

export function askWaybell({ api, token, signal }: AskOptions): AskWaybell {
  const base = new URL(String(api).replace(/\/*$/, '/'));
  let rest: { until: number; failure: ApiFailure } | undefined;

  const ask = async <T>(method: string, path: string, body?: object, withinMs = WITHIN_MS): Promise<T> => {
    if (rest !== undefined && rest.until > Date.now()) throw rest.failure;
    const response = await fetchWithin(withinMs, signal, async (ending) => {
      const authorization = `Bearer ${typeof token === 'function' ? await token() : token}`;
      const answer = await fetch(new URL(path, base), {
        method,
        headers: { authorization, ...(body && { 'content-type': 'application/json; charset=utf-8' }) },
        body: body === undefined ? null : JSON.stringify(body),
        redirect: 'error',
        signal: ending,
      });
      return { answer, text: await answer.text() };
    });
    const { answer, text } = response;
    // The shapes are those of openapi.json.
    if (answer.ok) return readJson(text) as T;
    const failure = failureOf(answer, text);
    if (failure.waitMs > 0) rest = { until: Date.now() + failure.waitMs, failure };
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
    subscription: (guid) => one<ToldSubscription>(ask('GET', of(guid))),
    test: (guid) => one<Tested>(ask('POST', of(guid, '/test'), {}, TEST_WITHIN_MS)),
    switchOn: (guid) => one<ToldSubscription>(ask('PATCH', of(guid), { is_active: true })),
    replayMissed: (guid, perSecond) =>
      one<{ total: number }>(
        ask('POST', 'v1/replays', { subscription_guid: guid, missed: true, per_second: perSecond }),
      ),
  };
}

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
function problemIn(text: string): ToldProblem {
  try {
    // A proxy may answer anything.
    const body = JSON.parse(text) as ToldProblem | null;
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
