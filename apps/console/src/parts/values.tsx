import { inUtc, writtenHere } from './time.ts';
import { statusWord, styleOf } from './words.ts';

/** A time with its date, in the viewer's zone, which it names. Its tooltip has it in UTC, to the millisecond. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inUtc(at)}>
      {writtenHere(at)}
    </time>
  );
}

/** The beginning of a guid, which distinguishes it from its neighbours. Its tooltip has the whole guid. */
export function Guid({ guid }: { guid: string }) {
  return (
    <code className="guid" title={guid} aria-label={guid}>
      {guid.slice(0, 8)}
    </code>
  );
}

/** A status as a word, a colour and a mark: none of them is needed to understand the others. */
export function Status({ of }: { of: string }) {
  const { tone, mark } = styleOf(of);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{mark}</span> {statusWord(of)}
    </span>
  );
}
