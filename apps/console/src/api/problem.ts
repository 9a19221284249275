/** A problem from the API (RFC 9457), with what the page needs to explain it and to continue. */
export class ProblemAnswer extends Error {
  /** The end of its `type`, such as `too-many-requests`; `unreachable` where there was no answer. */
  readonly kind: string;
  readonly status: number;
  readonly title: string;
  /** The id by which support finds the request. */
  readonly requestId: string | undefined;
  /** Broken rules and their places in the body; `pointer` is a JSON Pointer as a URI fragment. */
  readonly faults: readonly ProblemFault[];
  /** How long to wait before the request is repeated, in milliseconds. */
  readonly retryAfterMs: number | undefined;

  constructor(body: ProblemBody) {
    super(body.detail);
    this.kind = body.kind;
    this.status = body.status;
    this.title = body.title;
    this.requestId = body.requestId;
    this.faults = body.faults ?? [];
    this.retryAfterMs = body.retryAfterMs;
  }

  /** Whether the same request may succeed later. */
  get isPassing(): boolean {
    return this.status === 0 || this.status === 429 || this.status >= 500;
  }
}

export type ProblemFault = { pointer?: string; parameter?: string; detail: string };

type ProblemBody = {
  kind: string;
  status: number;
  title: string;
  detail: string;
  requestId?: string | undefined;
  faults?: readonly ProblemFault[] | undefined;
  retryAfterMs?: number | undefined;
};

export const unreachable = (): ProblemAnswer =>
  new ProblemAnswer({
    kind: 'unreachable',
    status: 0,
    title: 'No connection',
    detail: 'Waybell did not answer.',
  });

/** The problem that an answer describes; if it describes none, one made of its status. */
export function problemOf(response: Response, body: unknown): ProblemAnswer {
  const { type, title, detail, instance, errors } = isObject(body) ? body : {};
  const seconds = Number(response.headers.get('retry-after') ?? Number.NaN);
  return new ProblemAnswer({
    kind: typeof type === 'string' ? (type.split(':').at(-1) ?? '') : 'unknown',
    status: response.status,
    title: typeof title === 'string' ? title : 'Something went wrong',
    detail: typeof detail === 'string' ? detail : `The answer was ${response.status} ${response.statusText}.`,
    requestId: typeof instance === 'string' ? instance : (response.headers.get('x-request-id') ?? undefined),
    // The document describes a problem so.
    faults: Array.isArray(errors) ? (errors as ProblemFault[]) : [],
    retryAfterMs: Number.isFinite(seconds) ? seconds * 1_000 : undefined,
  });
}

export const isObject = (value: unknown): value is Record<string, unknown> =>
  typeof value === 'object' && value !== null && !Array.isArray(value);
