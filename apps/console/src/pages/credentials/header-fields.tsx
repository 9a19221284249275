import { useState } from 'react';
import { HeaderRow } from './header-row.tsx';

const MOST = 5;

/** Rows of a header's name and value; the values stand in their fields alone. */
export function HeaderFields({ names }: { names: readonly string[] }) {
  const [rows, setRows] = useState(() => names.map((name, key) => ({ key, name })));
  const add = () => setRows([...rows, { key: 1 + Math.max(...rows.map(({ key }) => key)), name: '' }]);
  /** Whether two headers have this name: an object can have only one. */
  const isTwice = (name: string) => rows.filter((row) => written(row.name) === written(name)).length > 1;
  return (
    <>
      {rows.map((row, place) => (
        <HeaderRow
          key={row.key}
          place={place + 1}
          name={row.name}
          isTwice={isTwice(row.name)}
          rename={(name) => setRows(rows.map((each) => (each === row ? { ...row, name } : each)))}
          {...(rows.length > 1 && { leaveOut: () => setRows(rows.filter((each) => each !== row)) })}
        />
      ))}
      {rows.length < MOST && (
        <div className="tools">
          <button type="button" onClick={add}>
            Add header
          </button>
        </div>
      )}
    </>
  );
}

const written = (name: string): string => name.trim().toLowerCase();
