import { inUtc, writtenDuration } from '../../parts/time.ts';
import { BY_HAND, statusWord } from '../../parts/words.ts';
import { useNow } from '../../parts/use-now.ts';
import { isUnderWay, type Attempt, type Delivery } from './types.ts';

/** An attempt that is late by more is not just about to be made. */
const LATE_MS = 60_000;

/**
 * The attempts of a delivery in a row, with the waits between them written and drawn by their order of magnitude: so that
 * attempts a second apart can be told from each other beside one that was made by hand a day later.
 */
export function AttemptAxis({ delivery }: { delivery: Delivery }) {
  const now = useNow(isUnderWay(delivery));
  const { at, attempts, next_attempt_at: next } = delivery;
  const begun = (place: number): number => {
    const attempt = attempts[place];
    return attempt === undefined ? Date.parse(at) : Date.parse(attempt.at);
  };
  return (
    <ol className="axis" aria-label="Attempts in time">
      <li>
        <span className="mark" title={inUtc(at)} aria-hidden="true" />
        <span className="name">Created</span>
      </li>
      {attempts.map((attempt, place) => (
        <Step key={`${attempt.attempt} ${attempt.at}`} attempt={attempt} waitMs={startOf(attempt) - begun(place - 1)} />
      ))}
      {next !== undefined && (
        <Due waitMs={Date.parse(next) - begun(attempts.length - 1)} inMs={Date.parse(next) - now} />
      )}
    </ol>
  );
}

const startOf = ({ at, duration_ms: ms = 0 }: Attempt): number => Date.parse(at) - ms;

function Step({ attempt, waitMs }: { attempt: Attempt; waitMs: number }) {
  const { kind, attempt: number, by_hand: byHand, at } = attempt;
  return (
    <li style={{ flexGrow: lengthOf(waitMs) }}>
      <Wait ms={waitMs} />
      <span className={`mark ${kind}`} title={inUtc(at)} aria-hidden="true" />
      <span className="name">
        {byHand === undefined ? `Attempt ${number}` : BY_HAND[byHand]} <span className="sr">{statusWord(kind)}</span>
      </span>
    </li>
  );
}

function Due({ waitMs, inMs }: { waitMs: number; inMs: number }) {
  return (
    <li style={{ flexGrow: lengthOf(waitMs) }}>
      <Wait ms={waitMs} />
      <span className="mark due" aria-hidden="true" />
      <strong className="name">{dueIn(inMs)}</strong>
    </li>
  );
}

function Wait({ ms }: { ms: number }) {
  return <span className="wait">{writtenDuration(Math.max(0, ms))}</span>;
}

function dueIn(ms: number): string {
  if (ms > 0) return `Next attempt in ${writtenDuration(ms)}`;
  return ms > -LATE_MS ? 'Next attempt due now' : `Next attempt was due ${writtenDuration(-ms)} ago`;
}

/** How much longer a wait is drawn than the shortest: ten times as long is one step more. */
const lengthOf = (ms: number): number => 1 + Math.log10(1 + Math.max(0, ms) / 100);
