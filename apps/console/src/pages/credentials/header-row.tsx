import { Faults, pointerOf, useFaultMarks } from '../../parts/faults.tsx';
import { HEADER_NAME, HEADER_VALUE } from './written-in.ts';

type RowProps = {
  /** From 1. */
  place: number;
  name: string;
  isTwice: boolean;
  rename: (name: string) => void;
  leaveOut?: () => void;
};

/** A header's name and value, with what the API says against either. */
export function HeaderRow({ place, name, isTwice, rename, leaveOut }: RowProps) {
  const at = pointerOf('headers', name.trim());
  const { id, marks } = useFaultMarks(at);
  return (
    <div className="header-row" role="group" aria-label={`Header ${place}`}>
      <label>
        Name
        <input
          ref={(input) => input?.setCustomValidity(isTwice ? 'Another header has this name.' : '')}
          name={HEADER_NAME}
          required
          autoComplete="off"
          spellCheck={false}
          placeholder="X-Api-Key"
          value={name}
          onChange={({ target }) => rename(target.value)}
          {...marks}
        />
      </label>
      <label>
        Value
        <input name={HEADER_VALUE} type="password" required autoComplete="off" {...marks} />
      </label>
      {leaveOut !== undefined && (
        <button type="button" aria-label={`Remove header ${place}`} onClick={leaveOut}>
          ✕
        </button>
      )}
      <Faults at={at} id={id} />
    </div>
  );
}
