import type { ErrorRequestHandler, Response } from 'express';
import { problemKinds, problemType, type ProblemKind } from '@waybell/contracts/problem-kinds';
import type { Log } from '@waybell/runtime/log';
import { isBusy } from '@waybell/runtime/postgres';
import { Unavailable } from '@waybell/runtime/unavailable';
import { isOfClosedAccount, Refusal } from '../../refusal.ts';

/** One rule that a body breaks; `pointer` is a JSON Pointer as a URI fragment, as in RFC 9457. */
export type Fault = { pointer: string; detail: string };

/** One rule that a parameter of the path or the query breaks. */
export type ParameterFault = { parameter: string; detail: string };

/** An answer other than the one hoped for. Thrown by handlers, answered as RFC 9457 says, by one error handler. */
export class Problem extends Error {
  readonly kind: ProblemKind;
  readonly status: number;
  readonly headers: Record<string, string>;
  readonly faults: (Fault | ParameterFault)[] | undefined;

  constructor(
    kind: ProblemKind,
    detail: string,
    more: { headers?: Record<string, string>; faults?: (Fault | ParameterFault)[] } = {},
  ) {
    super(detail);
    this.name = 'Problem';
    this.kind = kind;
    this.status = problemKinds[kind][0];
    this.headers = more.headers ?? {};
    this.faults = more.faults;
  }

  /** The body; `instance` is the id of the request, which its log line carries too. */
  toBody(instance: string) {
    const [status, title] = problemKinds[this.kind];
    const type = problemType(this.kind);
    return { type, title, status, detail: this.message, instance, errors: this.faults };
  }
}

export const PROBLEM_TYPE = 'application/problem+json';

const RETRY_AFTER_S = '5';

/** Answers every error, and logs those that a person should look at. */
export function answerProblems(log: Log): ErrorRequestHandler {
  return (error: unknown, _request, response, next) => {
    const problem = toProblem(error);
    const { requestId } = response.locals;
    if (problem.kind === 'internal-error') log.error({ err: error, requestId }, 'request.failed');
    if (error instanceof Unavailable) {
      const { dependency, cause } = error;
      const reason = cause instanceof Error ? cause.message : undefined;
      log.warn({ dependency, reason, requestId }, isBusy(cause) ? 'dependency.busy' : 'dependency.away');
    }
    if (response.headersSent) next(error);
    else answer(problem, response);
  };
}

function answer(problem: Problem, response: Response): void {
  response.status(problem.status).set(problem.headers).set('content-type', PROBLEM_TYPE);
  response.end(JSON.stringify(problem.toBody(String(response.locals['requestId']))));
}

const AWAY = 'A server behind this one cannot be reached; nothing was changed, or it is not known: ask again.';
const BUSY =
  'The database did not answer in time, or lacks the room to: it has much to do, or much was asked for. Nothing was changed, or it is not known: ask again, or for less, such as a shorter time or a smaller page.';

function toProblem(error: unknown): Problem {
  if (error instanceof Problem) return error;
  if (error instanceof Refusal) return refused(error);
  if (isOfClosedAccount(error)) return new Problem('account-closed', 'The account was closed meanwhile.');
  if (error instanceof Unavailable) {
    return new Problem('unavailable', isBusy(error.cause) ? BUSY : AWAY, { headers: { 'retry-after': RETRY_AFTER_S } });
  }
  // Errors of Express and its body reader carry a status.
  const status = error instanceof Error && 'status' in error ? error.status : 500;
  if (status === 413) return new Problem('body-too-large', tooLarge(error));
  if (status === 415) return new Problem('unsupported-media-type', 'This Content-Encoding is not supported: use gzip.');
  if (error instanceof URIError) return new Problem('malformed-request', 'The path is not valid percent-encoding.');
  if (status === 400) return new Problem('malformed-request', 'The body could not be read to its end.');
  return new Problem('internal-error', 'The error was logged under the id in "instance".');
}

function tooLarge(error: unknown): string {
  const limit = error instanceof Error && 'limit' in error ? Number(error.limit) : 0;
  return `A body has at most ${limit / 2 ** 10} KiB here, after decompression.`;
}

function refused({ reason, message }: Refusal): Problem {
  return reason === 'invalid'
    ? new Problem('invalid-body', message, { faults: [{ pointer: '#', detail: message }] })
    : new Problem(reason, message);
}
