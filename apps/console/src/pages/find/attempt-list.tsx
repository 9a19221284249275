import { Moment, writtenDuration } from '../../parts/moment.tsx';
import { Status } from '../../parts/status.tsx';
import { Foreign, TextBlock } from '../../parts/text-block.tsx';
import { CredentialsLink } from './credentials-link.tsx';
import type { Attempt } from './types.ts';

/** Every attempt: what came back, where the milliseconds went, what it means and what to do about it. */
export function AttemptList({ attempts }: { attempts: readonly Attempt[] }) {
  return (
    <ol className="attempts">
      {attempts.map((attempt) => (
        <li key={`${attempt.attempt} ${attempt.at}`}>
          <div className="line">
            <strong>Attempt {attempt.attempt}</strong>
            <Status of={attempt.kind} />
            {attempt.http_status !== undefined && <code>HTTP {attempt.http_status}</code>}
            {attempt.by_hand !== undefined && <span className="tag">{attempt.by_hand} by hand</span>}
            {attempt.waited !== undefined && <span className="tag">had waited: {attempt.waited}</span>}
            <Moment at={attempt.at} />
          </div>
          {attempt.reason !== undefined && (
            <p>
              <code>{attempt.reason}</code> {attempt.meaning} <em>{attempt.remedy}</em>
              {attempt.broken_rule !== undefined && ` What came: ${attempt.broken_rule}.`}
            </p>
          )}
          <CredentialsLink attempt={attempt} />
          <Milliseconds attempt={attempt} />
          {attempt.url !== undefined && (
            <p className="small">
              POST <Foreign text={attempt.url} />
              {attempt.ip !== undefined && (
                <>
                  {' at '}
                  <code>{attempt.ip}</code>
                </>
              )}
            </p>
          )}
          {attempt.answer !== undefined && attempt.answer !== '' && (
            <TextBlock text={attempt.answer} label={`Answer to attempt ${attempt.attempt}`} />
          )}
        </li>
      ))}
    </ol>
  );
}

/** Shows the parts of the time that an attempt took, one after another. */
function Milliseconds({ attempt }: { attempt: Attempt }) {
  const {
    duration_ms: whole,
    dns_ms: dns = 0,
    connect_ms: connect = 0,
    tls_ms: tls = 0,
    first_byte_ms: first,
  } = attempt;
  if (whole === undefined) return null;
  const connected = dns + connect + tls;
  const waited = first === undefined ? undefined : Math.max(0, first - connected);
  const parts = [
    { name: 'DNS', ms: dns },
    { name: 'connect', ms: connect },
    { name: 'TLS', ms: tls },
    { name: 'until its first byte', ms: waited ?? Math.max(0, whole - connected) },
    { name: 'answer', ms: first === undefined ? 0 : Math.max(0, whole - first) },
  ].filter(({ ms }) => ms > 0);
  return (
    <div className="milliseconds">
      <div className="bar" aria-hidden="true">
        {parts.map(({ name, ms }, place) => (
          <span key={name} className={`part-${place}`} style={{ flexGrow: ms }} />
        ))}
      </div>
      <span>
        {writtenDuration(whole)}
        {parts.length > 0 && `: ${parts.map(({ name, ms }) => `${name} ${writtenDuration(ms)}`).join(', ')}`}
      </span>
    </div>
  );
}
