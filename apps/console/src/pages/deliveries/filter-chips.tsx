import { FILTERS, statusWord } from '../../parts/words.ts';
import { writtenHere } from '../../parts/time.ts';
import { Foreign } from '../../parts/text-block.tsx';
import type { ListFilter } from './types.ts';

type FilterChipsProps = {
  filter: ListFilter;
  narrow: (changes: ListFilter) => void;
  /** The filters to show; all by default. */
  only?: readonly string[];
};

/** Filters that there are: each goes by its button. */
export function FilterChips({ filter, narrow, only }: FilterChipsProps) {
  // The filter has the form of the address.
  const all = Object.entries(filter) as [keyof ListFilter, string][];
  const set = all.filter(([name]) => only?.includes(name) ?? true);
  if (set.length === 0) return null;
  return (
    <div className="chips set-filters" role="group" aria-label="Filters">
      {set.map(([name, value]) => (
        <button key={name} type="button" onClick={() => narrow({ [name]: '' })}>
          <span className="sr">Remove </span>
          {FILTERS[name]}: <Foreign text={written(name, value)} /> <span aria-hidden="true">✕</span>
        </button>
      ))}
    </div>
  );
}

function written(name: keyof ListFilter, value: string): string {
  if (name === 'status') return value.split(',').map(statusWord).join(', ');
  if (name === 'subscription' || name === 'account') return value.slice(0, 8);
  const isTime = (name === 'since' || name === 'until') && !Number.isNaN(Date.parse(value));
  return isTime ? writtenHere(value) : value;
}
