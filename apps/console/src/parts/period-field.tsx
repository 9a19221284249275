import { useState } from 'react';
import { dayOf, isSame, localOf, momentOf, periodFrom, periodOf, PRESETS, type Period, type Preset } from './time.ts';
import { Moment } from './values.tsx';

type PeriodFieldProps = {
  period: Period;
  choose: (period: Period) => void;
  /** Whether any time may be chosen. */
  mayBeOpen?: boolean;
  /** The preset that `period` is, if it is one. */
  starts?: Preset | undefined;
};

/**
 * A period, chosen as a preset or to the minute. A preset is resolved at the moment of the choice, so that a link to it shows others
 * the same period.
 */
export function PeriodField({ period, choose, mayBeOpen = false, starts }: PeriodFieldProps) {
  const [chosen, setChosen] = useState(() => starts && { preset: starts, period });
  const [isCustom, setCustom] = useState(false);
  const isOpen = period.since === undefined && period.until === undefined;
  const isChosen = (preset: Preset) => !isCustom && chosen?.preset === preset && isSame(chosen.period, period);
  const isNone = !isOpen && !PRESETS.some(isChosen);
  const choosePreset = (preset: Preset) => {
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
          <button key={preset} type="button" aria-pressed={isChosen(preset)} onClick={() => choosePreset(preset)}>
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
