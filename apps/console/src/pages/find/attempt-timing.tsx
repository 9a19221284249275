import { writtenDuration } from '../../parts/moment.tsx';
import type { Attempt } from './types.ts';

/** The phases of an attempt. The bar is to scale: its full width is the longest attempt of the delivery. */
export function AttemptTiming({ attempt, longestMs }: { attempt: Attempt; longestMs: number }) {
  const { duration_ms: whole } = attempt;
  if (whole === undefined) return null;
  const parts = partsOf(attempt, whole);
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

function partsOf(attempt: Attempt, wholeMs: number) {
  const { dns_ms: dns = 0, connect_ms: connect = 0, tls_ms: tls = 0, first_byte_ms: first } = attempt;
  const connected = dns + connect + tls;
  return [
    { name: 'DNS', ms: dns },
    { name: 'connect', ms: connect },
    { name: 'TLS', ms: tls },
    { name: 'waiting (TTFB)', ms: Math.max(0, (first ?? wholeMs) - connected) },
    { name: 'response', ms: first === undefined ? 0 : Math.max(0, wholeMs - first) },
  ]
    .map((part, shade) => ({ ...part, shade }))
    .filter(({ ms }) => ms > 0);
}
