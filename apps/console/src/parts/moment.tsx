const shown = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
const thisYear = new Intl.DateTimeFormat(undefined, { ...shown, timeZoneName: 'short' });
const otherYear = new Intl.DateTimeFormat(undefined, { ...shown, year: 'numeric', timeZoneName: 'short' });

/** A time with its date, in the viewer's zone, which it names; in UTC, to the millisecond, for who points at it. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inUtc(at)}>
      {writtenHere(at)}
    </time>
  );
}

/** Such as `27 Nov, 18:40:21 CET`; with its year, if that is another one than now. */
export function writtenHere(at: string, now: Date = new Date()): string {
  const date = new Date(at);
  return (date.getFullYear() === now.getFullYear() ? thisYear : otherYear).format(date);
}

/** Formats a time for an input of local date and time, in the viewer's zone. */
export function localOf(at: string): string {
  const date = new Date(at);
  return new Date(date.getTime() - date.getTimezoneOffset() * 60_000).toISOString().slice(0, 16);
}

export const inUtc = (at: string): string => `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;

/** Such as `1.2 s`, `350 ms` or `3 min`. */
export function writtenDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}
