import { Disclosure } from '../../parts/disclosure.tsx';
import { Moment } from '../../parts/moment.tsx';
import { writtenDuration } from '../../parts/time.ts';
import { Status } from '../../parts/status.tsx';
import { Foreign, TextBlock } from '../../parts/text-block.tsx';
import { AttemptTiming } from './attempt-timing.tsx';
import { CredentialsLink } from './credentials-link.tsx';
import type { Attempt } from './types.ts';

/** Every attempt, the last one first and open: what came back, where the milliseconds went, what it means and what to do about it. */
export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  const longestMs = Math.max(0, ...attempts.map(({ duration_ms: ms = 0 }) => ms));
  const newestFirst = attempts.toReversed();
  return (
    <ol className="attempts" reversed>
      {newestFirst.map((attempt, place) => (
        <li key={`${attempt.attempt} ${attempt.at}`}>
          <Disclosure summary={<Summary attempt={attempt} />} startsOpen={place === 0}>
            {() => <Told attempt={attempt} longestMs={longestMs} isLast={place === 0} />}
          </Disclosure>
        </li>
      ))}
    </ol>
  );
}

function Summary({ attempt }: { attempt: Attempt }) {
  const { attempt: number, kind, http_status: status, by_hand: byHand, duration_ms: ms, at } = attempt;
  return (
    <>
      <strong>Attempt {number}</strong>
      <Status of={kind} />
      {status !== undefined && <code>HTTP {status}</code>}
      {byHand !== undefined && <span className="tag">{byHand} by hand</span>}
      {ms !== undefined && <span className="quietly">{writtenDuration(ms)}</span>}
      <span className="quietly">
        <Moment at={at} />
      </span>
    </>
  );
}

type ToldProps = { attempt: Attempt; longestMs: number; isLast: boolean };

/** Why the last one failed, its delivery says. */
function Told({ attempt, longestMs, isLast }: ToldProps) {
  const { reason, meaning, remedy, waited, url, ip, answer, attempt: number } = attempt;
  const came = attempt.broken_rule ?? attempt.error ?? (attempt.location && `Location: ${attempt.location}`);
  return (
    <div className="stack">
      {reason !== undefined && !isLast && (
        <p>
          <code>{reason}</code> {meaning} <em>{remedy}</em>
        </p>
      )}
      {came !== undefined && (
        <p>
          What came: <Foreign text={came} />
        </p>
      )}
      {waited !== undefined && <p className="small">It had waited before: {waited}</p>}
      {!isLast && <CredentialsLink attempt={attempt} />}
      <AttemptTiming attempt={attempt} longestMs={longestMs} />
      {url !== undefined && (
        <p className="small">
          POST <Foreign text={url} />
          {ip !== undefined && (
            <>
              {' at '}
              <code>{ip}</code>
            </>
          )}
        </p>
      )}
      {answer !== undefined && answer !== '' && (
        <>
          <h3>Response</h3>
          <TextBlock text={answer} label={`Response to attempt ${number}`} />
        </>
      )}
    </div>
  );
}
