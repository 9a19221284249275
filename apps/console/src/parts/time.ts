/** Times and periods, as people write them, in the viewer's zone. */

const shown = { month: 'short', day: 'numeric', hour: 'numeric', minute: '2-digit', second: '2-digit' } as const;
const thisYear = new Intl.DateTimeFormat(undefined, { ...shown, timeZoneName: 'short' });
const otherYear = new Intl.DateTimeFormat(undefined, { ...shown, year: 'numeric', timeZoneName: 'short' });

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

/** From `since` until before `until`, as RFC 3339; open at the end that is left out. */
export type Period = { since?: string; until?: string };

const HOUR_MS = 3_600_000;
export const PRESETS = ['Last hour', 'Last 24 hours', 'Today', 'Yesterday', 'Last 7 days'] as const;
export type Preset = (typeof PRESETS)[number];

export const periodFrom = (since: string | undefined, until: string | undefined): Period => ({
  ...(since !== undefined && { since }),
  ...(until !== undefined && { until }),
});

/** The period that a preset names at that moment. Days are those of the viewer's zone. */
export function periodOf(preset: Preset, now: Date): Period {
  const before = (hours: number) => ({ since: new Date(now.getTime() - hours * HOUR_MS).toISOString() });
  const midnight = (days: number) => new Date(now.getFullYear(), now.getMonth(), now.getDate() + days).toISOString();
  switch (preset) {
    case 'Last hour':
      return before(1);
    case 'Last 24 hours':
      return before(24);
    case 'Last 7 days':
      return before(7 * 24);
    case 'Today':
      return { since: midnight(0) };
    case 'Yesterday':
      return { since: midnight(-1), until: midnight(0) };
  }
}

/** From midnight to midnight. */
export function dayOf(text: string): Period {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number);
  const midnight = (place: number) => new Date(year, month - 1, place).toISOString();
  return { since: midnight(day), until: midnight(day + 1) };
}

export const momentOf = (local: string): string | undefined =>
  local === '' ? undefined : new Date(local).toISOString();

export const isSame = (one: Period, other: Period): boolean => one.since === other.since && one.until === other.until;
