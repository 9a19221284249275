import type { ReactNode } from 'react';
import { ProblemAnswer, type ProblemFault } from '../api/problem.ts';

export function Loading({ what }: { what: string }) {
  return (
    <p className="state" role="status">
      <span className="spinner" aria-hidden="true" /> Loading {what} …
    </p>
  );
}

export function Empty({ children }: { children: ReactNode }) {
  return <div className="state empty">{children}</div>;
}

/** What went wrong, what to do, and by which id support finds it. */
export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  const problem = error instanceof ProblemAnswer ? error : undefined;
  const isBounded = problem?.kind === 'too-many-requests';
  const faults = problem?.faults ?? [];
  return (
    <div className={`state ${isBounded ? 'bounded' : 'failed'}`} role="alert">
      <p>
        <strong>{isBounded ? 'Asked too often' : (problem?.title ?? 'Something went wrong')}</strong>
      </p>
      {/* Where there are faults, it is made of them. */}
      {faults.length === 0 && <p>{error.message}</p>}
      {faults.map((fault) => (
        <p key={`${placeOf(fault)}${fault.detail}`}>
          {placeOf(fault) !== undefined && <code>{placeOf(fault)}</code>} {fault.detail}
        </p>
      ))}
      {isBounded && (
        <p>
          {retry === undefined ? 'Try again' : 'The page goes on by itself'} in{' '}
          {Math.ceil((problem.retryAfterMs ?? 5_000) / 1_000)} s.
        </p>
      )}
      {retry !== undefined && (
        <button type="button" onClick={retry}>
          Try again
        </button>
      )}
      {problem?.requestId !== undefined && (
        <p className="small">
          Request <code>{problem.requestId}</code>
        </p>
      )}
    </div>
  );
}

const placeOf = ({ pointer, parameter }: ProblemFault): string | undefined => pointer ?? parameter;

type QueryState<T> = {
  data: T | undefined;
  error: Error | null;
  failureReason: Error | null;
  refetch: () => Promise<unknown>;
};

/** What went wrong with a query, also while it is asked again by itself. */
export const troubleOf = ({
  error,
  failureReason,
}: Pick<QueryState<unknown>, 'error' | 'failureReason'>): Error | null => error ?? failureReason;

/** What a query found, once it has: till then that it is loading, or what went wrong. */
export function Found<T>({
  of,
  what,
  children,
}: {
  of: QueryState<T>;
  what: string;
  children: (data: T) => ReactNode;
}) {
  const trouble = troubleOf(of);
  // What was found before stays while asking again fails.
  if (of.data !== undefined) {
    return (
      <>
        {trouble !== null && <Failed error={trouble} retry={() => void of.refetch()} />}
        {children(of.data)}
      </>
    );
  }
  if (trouble !== null) return <Failed error={trouble} retry={() => void of.refetch()} />;
  return <Loading what={what} />;
}
