import { inUtc, writtenHere } from './time.ts';
import { statusWord, styleOf } from './words.ts';

/** A time with its date, in the viewer's zone, which it names; in UTC, to the millisecond, for who points at it. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inUtc(at)}>
      {writtenHere(at)}
    </time>
  );
}

/** The beginning of a guid, which is enough to tell it from its neighbours; all of it for who points at it or copies. */
export function Guid({ guid }: { guid: string }) {
  return (
    <code className="guid" title={guid} aria-label={guid}>
      {guid.slice(0, 8)}
    </code>
  );
}

/** A status as a word, a colour and a mark: none of them alone. */
export function Status({ of }: { of: string }) {
  const { tone, mark } = styleOf(of);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{mark}</span> {statusWord(of)}
    </span>
  );
}
