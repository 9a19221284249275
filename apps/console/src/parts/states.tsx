import type { ReactNode } from 'react';
import { ProblemAnswer } from '../api/problem.ts';
import { placeOfClient, useClientInAddress } from '../session/acting.ts';
import { signOut } from '../session/session.ts';
import { fieldOf, textOfProblem, WAYS, type WayOn } from './problem-texts.ts';
import { Foreign } from './text-block.tsx';

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

type QueryState<T> = {
  data: T | undefined;
  error: Error | null;
  failureReason: Error | null;
  refetch: () => Promise<unknown>;
};

/** The result of a query, once there is one; until then that it loads, or the error. */
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
  // The previous result stays while retries fail.
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

/** The error of a query, also while it is retried. */
export const troubleOf = ({
  error,
  failureReason,
}: Pick<QueryState<unknown>, 'error' | 'failureReason'>): Error | null => error ?? failureReason;

/** A failure and its remedy in the page's words, with a link. "Details" has the API's text. */
export function Failed({ error, retry }: { error: Error; retry?: () => void }) {
  const problem = error instanceof ProblemAnswer ? error : undefined;
  const text = problem && textOfProblem(problem.kind);
  const isBounded = problem?.kind === 'too-many-requests';
  const faults = problem?.faults ?? [];
  // The faults are the help, if there are any.
  const help = text?.help || (faults.length === 0 && !isBounded ? error.message : '');
  return (
    <div className={`state ${isBounded ? 'bounded' : 'failed'}`} role="alert">
      <p>
        <strong>{text?.title ?? problem?.title ?? 'Something went wrong'}</strong>
      </p>
      {help !== '' && <p>{help}</p>}
      {faults.map((fault) => (
        <p key={`${fault.pointer}${fault.detail}`}>
          <FieldName place={fault.pointer ?? fault.parameter ?? ''} /> <Foreign text={fault.detail} />
        </p>
      ))}
      {isBounded && (
        <p>
          {retry === undefined ? 'Try again' : 'Trying again'} in {Math.ceil((problem.retryAfterMs ?? 5_000) / 1_000)}{' '}
          s.
        </p>
      )}
      <div className="tools">
        {text?.way !== undefined && <OnwardLink way={text.way} />}
        {retry !== undefined && (
          <button type="button" onClick={retry}>
            Try again
          </button>
        )}
      </div>
      {problem !== undefined && <Details problem={problem} isShown={help === problem.message} />}
    </div>
  );
}

function FieldName({ place }: { place: string }) {
  const name = fieldOf(place);
  if (name !== undefined) return <strong>{name}</strong>;
  return place === '' || place === '#' ? null : <code>{place}</code>;
}

const OF_OPERATORS: readonly WayOn[] = ['accounts', 'rejected'];

/** Links to the page with the remedy; while an operator acts for a client, to the page of the client. Works outside of the router. */
function OnwardLink({ way }: { way: WayOn }) {
  const client = useClientInAddress();
  if (way === 'sign-in') {
    return (
      <button type="button" className="main" onClick={() => signOut()}>
        Sign in again
      </button>
    );
  }
  const isOfClient = client !== undefined && !OF_OPERATORS.includes(way);
  return <a href={`#${isOfClient ? placeOfClient(client) : ''}/${way}`}>{WAYS[way]}</a>;
}

type DetailsProps = { problem: ProblemAnswer; isShown: boolean };

/** The API's text, unless the page shows it already, and the id by which support finds the request. */
function Details({ problem: { kind, status, requestId, message }, isShown }: DetailsProps) {
  if (status === 0 || (isShown && requestId === undefined)) return null;
  return (
    <details className="small">
      <summary>Details</summary>
      {!isShown && (
        <p>
          <Foreign text={message} />
        </p>
      )}
      <p>
        <code>{kind}</code> ({status})
        {requestId !== undefined && (
          <>
            , request <code>{requestId}</code>
          </>
        )}
      </p>
    </details>
  );
}
