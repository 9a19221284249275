import { writtenDuration } from '../../parts/time.ts';
import { phasesOf, type Attempt } from './types.ts';

/** The phases of an attempt. The bar is to scale: its full width is the longest attempt of the delivery. */
export function AttemptTiming({ attempt, longestMs }: { attempt: Attempt; longestMs: number }) {
  const { duration_ms: whole } = attempt;
  if (whole === undefined) return null;
  const parts = phasesOf(attempt, whole);
  const sumMs = parts.reduce((sum, { ms }) => sum + ms, 0);
  // Parts are rounded each: together they may be a millisecond more than the whole.
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
