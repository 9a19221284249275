import { inUtc, writtenHere } from './time.ts';

/** A time with its date, in the viewer's zone, which it names; in UTC, to the millisecond, for who points at it. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inUtc(at)}>
      {writtenHere(at)}
    </time>
  );
}
