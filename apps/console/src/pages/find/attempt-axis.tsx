import { inUtc, writtenDuration, writtenHere } from '../../parts/moment.tsx';
import { useNow } from '../../parts/use-now.ts';
import { isUnderWay, type Attempt, type Delivery } from './types.ts';

const WIDTH = 1_000;
const HEIGHT = 56;
const EDGE = 16;
/** What is late by more is not just about to be made. */
const LATE_MS = 60_000;
const MIDDLE = 20;
/** So that an attempt that took a moment is seen too. */
const LEAST_WIDTH = 6;

type Axis = { placeOf: (at: number) => number; from: number; to: number };

/** The attempts of a delivery on an axis of time: how long each took, the waits between them, and when the next is due. */
export function AttemptAxis({ delivery }: { delivery: Delivery }) {
  const now = useNow(isUnderWay(delivery));
  const dueAt = delivery.next_attempt_at === undefined ? undefined : Date.parse(delivery.next_attempt_at);
  const axis = axisOf(delivery, dueAt ?? (isUnderWay(delivery) ? now : undefined));
  return (
    <figure className="axis">
      <svg viewBox={`0 0 ${WIDTH} ${HEIGHT}`} role="img" aria-label={inWords(delivery)} preserveAspectRatio="none">
        <line className="ground" x1={EDGE} x2={WIDTH - EDGE} y1={MIDDLE} y2={MIDDLE} />
        {delivery.attempts.map((attempt) => (
          <Mark key={`${attempt.attempt} ${attempt.at}`} attempt={attempt} axis={axis} />
        ))}
        {dueAt !== undefined && (
          <circle className="due" cx={axis.placeOf(dueAt)} cy={MIDDLE} r={7}>
            <title>next attempt due at {inUtc(new Date(dueAt).toISOString())}</title>
          </circle>
        )}
        {isUnderWay(delivery) && now >= axis.from && now <= axis.to && (
          <line className="now" x1={axis.placeOf(now)} x2={axis.placeOf(now)} y1={4} y2={HEIGHT - 20} />
        )}
      </svg>
      <figcaption>
        <span title={inUtc(delivery.at)}>{writtenHere(delivery.at)}</span>
        <Due dueAt={dueAt} now={now} />
        <span>after {writtenDuration(axis.to - axis.from)}</span>
      </figcaption>
    </figure>
  );
}

function Due({ dueAt, now }: { dueAt: number | undefined; now: number }) {
  if (dueAt === undefined) return null;
  if (dueAt > now) return <strong>next attempt in {writtenDuration(dueAt - now)}</strong>;
  if (now - dueAt < LATE_MS) return <strong>next attempt is due now</strong>;
  return <strong>next attempt was due {writtenDuration(now - dueAt)} ago</strong>;
}

function Mark({ attempt, axis }: { attempt: Attempt; axis: Axis }) {
  const end = Date.parse(attempt.at);
  const from = axis.placeOf(end - (attempt.duration_ms ?? 0));
  const width = Math.max(LEAST_WIDTH, axis.placeOf(end) - from);
  return (
    <rect className={`mark ${attempt.kind}`} x={from} y={MIDDLE - 10} width={width} height={20} rx={3}>
      <title>{`attempt ${attempt.attempt}: ${attempt.kind}, ${inUtc(attempt.at)}`}</title>
    </rect>
  );
}

function axisOf({ at, attempts }: Delivery, lastAt: number | undefined): Axis {
  const from = Date.parse(at);
  const to = Math.max(from + 1_000, lastAt ?? 0, ...attempts.map((attempt) => Date.parse(attempt.at)));
  const placeOf = (moment: number) =>
    EDGE + (Math.min(Math.max(moment - from, 0), to - from) / (to - from)) * (WIDTH - 2 * EDGE);
  return { placeOf, from, to };
}

function inWords({ status, attempts }: Delivery): string {
  const each = attempts.map(({ attempt, kind, reason }) => `attempt ${attempt} ${kind}${reason ? ` (${reason})` : ''}`);
  return `${status}: ${each.join(', ') || 'no attempt yet'}`;
}
