const near = new Intl.DateTimeFormat(undefined, { timeStyle: 'medium' });
const far = new Intl.DateTimeFormat(undefined, { dateStyle: 'medium', timeStyle: 'medium' });

/** A time in the viewer's zone; in UTC, to the millisecond, for who points at it. */
export function Moment({ at }: { at: string }) {
  return (
    <time dateTime={at} title={inUtc(at)}>
      {writtenHere(at)}
    </time>
  );
}

export function writtenHere(at: string, now: Date = new Date()): string {
  const date = new Date(at);
  const isToday = date.toDateString() === now.toDateString();
  return (isToday ? near : far).format(date);
}

export const inUtc = (at: string): string => `${new Date(at).toISOString().replace('T', ' ').replace('Z', '')} UTC`;

/** Such as `1.2 s`, `350 ms` or `3 min`. */
export function writtenDuration(ms: number): string {
  if (ms < 1_000) return `${Math.round(ms)} ms`;
  if (ms < 100_000) return `${(ms / 1_000).toFixed(ms < 10_000 ? 1 : 0)} s`;
  if (ms < 7_200_000) return `${Math.round(ms / 60_000)} min`;
  return `${Math.round(ms / 3_600_000)} h`;
}
