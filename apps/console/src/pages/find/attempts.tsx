import { Link } from '@tanstack/react-router';
import { Disclosure } from '../../parts/disclosure.tsx';
import { Foreign, TextBlock } from '../../parts/text-block.tsx';
import { inUtc, writtenDuration } from '../../parts/time.ts';
import { useNow } from '../../parts/use-now.ts';
import { Moment, Status } from '../../parts/values.tsx';
import { BY_HAND, statusWord } from '../../parts/words.ts';
import { useSignedIn } from '../../session/session.ts';
import { isUnderWay, phasesOf, type Attempt, type Delivery } from './delivery.ts';

/** A next attempt that is later than this is shown as late, not as due now. */
const LATE_MS = 60_000;

/**
 * The attempts of a delivery in a row. The waits between them are drawn on a logarithmic scale: two attempts within a second can be
 * distinguished beside one that was made by hand a day later.
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

function dueIn(ms: number): string {
  if (ms > 0) return `Next attempt in ${writtenDuration(ms)}`;
  return ms > -LATE_MS ? 'Next attempt due now' : `Next attempt was due ${writtenDuration(-ms)} ago`;
}

function Wait({ ms }: { ms: number }) {
  return <span className="wait">{writtenDuration(Math.max(0, ms))}</span>;
}

/** The length of a wait on the axis: one more for each factor of ten. */
const lengthOf = (ms: number): number => 1 + Math.log10(1 + Math.max(0, ms) / 100);

/** Every attempt, the last one first and open: the answer, where the time went, what it means and what to do about it. */
export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  const longestMs = Math.max(0, ...attempts.map(({ duration_ms: ms = 0 }) => ms));
  const newestFirst = attempts.toReversed();
  return (
    <ol className="attempts" reversed>
      {newestFirst.map((attempt, place) => (
        <li key={`${attempt.attempt} ${attempt.at}`}>
          <Disclosure summary={<Summary attempt={attempt} />} startsOpen={place === 0}>
            {() => <AttemptDetails attempt={attempt} longestMs={longestMs} isLast={place === 0} />}
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

type AttemptDetailsProps = { attempt: Attempt; longestMs: number; isLast: boolean };

/** An attempt in full. The reason of the last one stands above, with the delivery. */
function AttemptDetails({ attempt, longestMs, isLast }: AttemptDetailsProps) {
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

/** The phases of an attempt. The bar is to scale: its full width is the longest attempt of the delivery. */
function AttemptTiming({ attempt, longestMs }: { attempt: Attempt; longestMs: number }) {
  const { duration_ms: whole } = attempt;
  if (whole === undefined) return null;
  const parts = phasesOf(attempt, whole);
  const sumMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  // Each phase is rounded: together they may be a millisecond longer than the attempt.
  const scaleMs = Math.max(longestMs, sumMs, 1);
  return (
    <div className="timing">
      <div className="bar" aria-hidden="true">
        {parts.map(({ name, ms, shade }) => (
          <span key={name} className={`shade-${shade}`} style={{ width: `${(100 * ms) / scaleMs}%` }} />
        ))}
      </div>
      <ul>
        <li>{writtenDuration(whole)}</li>
        {parts.map(({ name, ms, shade }) => (
          <li key={name}>
            <span className={`shade-${shade}`} aria-hidden="true" /> {name} {writtenDuration(ms)}
          </li>
        ))}
      </ul>
    </div>
  );
}

/** Failures that other credentials may end, by reason and by HTTP status. */
const REASONS: readonly (string | undefined)[] = ['credentials_unavailable', 'tls_certificate_required'];
const REFUSALS: readonly (number | undefined)[] = [401, 403];
/** Matches the text of nginx, whose status for a missing certificate is 400. */
const CERTIFICATE = /SSL certificate/;

/** Links an attempt that failed for lack of credentials to those for its host. */
export function CredentialsLink({ attempt }: { attempt: Attempt }) {
  const { reason, http_status: status, answer = '', url = '' } = attempt;
  const { view, api } = useSignedIn();
  const isForThem = REASONS.includes(reason) || REFUSALS.includes(status) || CERTIFICATE.test(answer);
  if (view === 'operator' || !isForThem) return null;
  const host = URL.canParse(url) ? new URL(url).host : undefined;
  if (api.actingFor !== undefined)
    return <p className="small">Only the client itself can see and set its credentials.</p>;
  return (
    <p>
      <Link to="/credentials" search={host === undefined ? {} : { host }}>
        Credentials{host !== undefined && ` for ${host}`}
      </Link>
    </p>
  );
}
