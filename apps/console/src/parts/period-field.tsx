import { useState } from 'react';
import { localOf, Moment } from './moment.tsx';

/** From when until before when, as RFC 3339; open where one is left out. */
export type Period = { since?: string; until?: string };

const HOUR_MS = 3_600_000;
const PRESETS = ['Last hour', 'Last 24 hours', 'Today', 'Yesterday', 'Last 7 days'] as const;
type Preset = (typeof PRESETS)[number];

type PeriodFieldProps = {
  period: Period;
  choose: (period: Period) => void;
  /** Whether it may be all of time. */
  mayBeOpen?: boolean;
  /** The first preset; none by default. */
  starts?: Preset | undefined;
};

/** A period, chosen by one press or to the minute. It is one of the moment at which it is chosen: a link to it shows others the same. */
export function PeriodField({ period, choose, mayBeOpen = false, starts }: PeriodFieldProps) {
  const [chosen, setChosen] = useState(() => starts && { preset: starts, period });
  const [isCustom, setCustom] = useState(false);
  const isOpen = period.since === undefined && period.until === undefined;
  const isChosen = (preset: Preset) => !isCustom && chosen?.preset === preset && isSame(chosen.period, period);
  const isNone = !isOpen && !PRESETS.some(isChosen);
  const take = (preset: Preset) => {
    const wanted = periodOf(preset, new Date());
    setChosen({ preset, period: wanted });
    setCustom(false);
    choose(wanted);
  };
  return (
    <div className="period" role="group" aria-label="Period">
      <div className="chips">
        {mayBeOpen && (
          <button type="button" aria-pressed={isOpen && !isCustom} onClick={() => (setCustom(false), choose({}))}>
            Any time
          </button>
        )}
        {PRESETS.map((preset) => (
          <button key={preset} type="button" aria-pressed={isChosen(preset)} onClick={() => take(preset)}>
            {preset}
          </button>
        ))}
        <button type="button" aria-pressed={isCustom || isNone} onClick={() => setCustom(true)}>
          Custom
        </button>
      </div>
      {(isCustom || isNone) && <CustomPeriod period={period} choose={choose} />}
      {!isOpen && <Written period={period} />}
    </div>
  );
}

function CustomPeriod({ period: { since, until }, choose }: Pick<PeriodFieldProps, 'period' | 'choose'>) {
  return (
    <div className="filters">
      <label>
        Day
        <input type="date" value="" onChange={({ target }) => target.value !== '' && choose(dayOf(target.value))} />
      </label>
      <label>
        From
        <input
          type="datetime-local"
          value={since === undefined ? '' : localOf(since)}
          onChange={({ target }) => choose(periodFrom(momentOf(target.value), until))}
        />
      </label>
      <label>
        To
        <input
          type="datetime-local"
          value={until === undefined ? '' : localOf(until)}
          onChange={({ target }) => choose(periodFrom(since, momentOf(target.value)))}
        />
      </label>
    </div>
  );
}

function Written({ period: { since, until } }: { period: Period }) {
  return (
    <p className="small">
      {since === undefined ? 'The beginning' : <Moment at={since} />} –{' '}
      {until === undefined ? 'now' : <Moment at={until} />}
    </p>
  );
}

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
function dayOf(text: string): Period {
  const [year = 0, month = 1, day = 1] = text.split('-').map(Number);
  const midnight = (place: number) => new Date(year, month - 1, place).toISOString();
  return { since: midnight(day), until: midnight(day + 1) };
}

const momentOf = (local: string): string | undefined => (local === '' ? undefined : new Date(local).toISOString());

const isSame = (one: Period, other: Period): boolean => one.since === other.since && one.until === other.until;
