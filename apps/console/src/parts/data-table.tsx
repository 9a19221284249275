import {
  createColumnHelper,
  createSortedRowModel,
  rowSortingFeature,
  sortFn_alphanumeric,
  tableFeatures,
  useTable,
  type SortingState,
} from '@tanstack/react-table';
import { useVirtualizer } from '@tanstack/react-virtual';
import { useMemo, useRef, useState, type ReactNode, type RefObject } from 'react';

/** A column of a table. With `value`, its header is a button that sorts by that. */
export type TableColumn<T> = {
  header: string;
  cell: (row: T) => ReactNode;
  value?: (row: T) => string | number;
  isNumber?: boolean;
};

type DataTableProps<T> = {
  /** Name of the table, for screen readers. */
  label: string;
  rows: readonly T[];
  /** The same array each time. The cells of the first column are headers of their rows. */
  columns: readonly TableColumn<T>[];
  keyOf: (row: T) => string;
};

/** Only the rows in sight of a longer table are in the document. */
const MOST_ROWS = 200;
const ROW_PX = 40;
/** A table of fewer rows has no sort buttons where the window is narrow. */
const FEW_ROWS = 8;

const features = tableFeatures({
  rowSortingFeature,
  sortedRowModel: createSortedRowModel(),
  sortFns: { alphanumeric: sortFn_alphanumeric },
});

/**
 * A table of any length, in the given order until somebody sorts it. In a narrow window, each row is a block with the header beside
 * each cell.
 */
export function DataTable<T extends object>({ label, rows, columns, keyOf }: DataTableProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const [sorting, setSorting] = useState<SortingState>([]);
  const defined = useMemo(() => definitionsOf(columns), [columns]);
  const table = useTable({
    features,
    columns: defined,
    data: rows,
    getRowId: keyOf,
    state: { sorting },
    onSortingChange: setSorting,
  });
  const sorted = table.getRowModel().rows;
  const { isLong, shown, above, below, measure } = useShown(sorted, frame);
  return (
    <div
      className={`table-frame ${isLong ? 'long' : sorted.length < FEW_ROWS ? 'few' : ''}`}
      ref={frame}
      tabIndex={0}
      role="group"
      aria-label={label}
    >
      <table {...as('table')} aria-label={label} aria-rowcount={sorted.length + 1}>
        <thead {...as('rowgroup')}>
          <tr {...as('row')} aria-rowindex={1}>
            {table.getFlatHeaders().map(({ id, column }, place) => (
              <Header
                key={id}
                column={columns[place]}
                direction={column.getIsSorted()}
                sort={() => column.toggleSorting()}
              />
            ))}
          </tr>
        </thead>
        <tbody {...as('rowgroup')}>
          <Gap px={above} columns={columns.length} />
          {shown.map((index) => {
            const row = sorted[index];
            if (row === undefined) return null;
            return (
              <tr key={row.id} {...as('row')} aria-rowindex={index + 2} data-index={index} ref={measure}>
                {columns.map((column, place) => (
                  <Cell key={column.header} column={column} row={row.original} isFirst={place === 0} />
                ))}
              </tr>
            );
          })}
          <Gap px={below} columns={columns.length} />
        </tbody>
      </table>
    </div>
  );
}

/** States a role that the element has anyway: browsers may drop it where a table is laid out as blocks. */
const as = (role: string) => ({ role });

/** The indexes of the rows that are in the document, and the height of those above and below them. */
function useShown(sorted: readonly { id: string }[], frame: RefObject<HTMLDivElement | null>) {
  const isLong = sorted.length > MOST_ROWS;
  const virtual = useVirtualizer({
    count: sorted.length,
    enabled: isLong,
    getScrollElement: () => frame.current,
    estimateSize: () => ROW_PX,
    getItemKey: (index) => sorted[index]?.id ?? index,
    overscan: 12,
  });
  const seen = virtual.getVirtualItems();
  return {
    isLong,
    shown: isLong ? seen.map(({ index }) => index) : sorted.map((_row, index) => index),
    above: isLong ? (seen[0]?.start ?? 0) : 0,
    below: isLong ? virtual.getTotalSize() - (seen.at(-1)?.end ?? 0) : 0,
    measure: isLong ? virtual.measureElement : undefined,
  };
}

function definitionsOf<T extends object>(columns: readonly TableColumn<T>[]) {
  const helper = createColumnHelper<typeof features, T>();
  return helper.columns(
    columns.map(({ header, value }) =>
      helper.accessor((row) => value?.(row) ?? '', {
        id: header,
        header,
        enableSorting: value !== undefined,
        sortFn: 'alphanumeric',
      }),
    ),
  );
}

type HeaderProps<T> = { column: TableColumn<T> | undefined; direction: false | 'asc' | 'desc'; sort: () => void };

function Header<T>({ column, direction, sort }: HeaderProps<T>) {
  if (column === undefined) return null;
  const { header, value, isNumber } = column;
  const style = isNumber === true ? 'number' : undefined;
  if (value === undefined) {
    return (
      <th {...as('columnheader')} scope="col" className={style}>
        {header}
      </th>
    );
  }
  const order = direction === 'asc' ? 'ascending' : direction === 'desc' ? 'descending' : 'none';
  const mark = direction === 'asc' ? '▲' : direction === 'desc' ? '▼' : '↕';
  return (
    <th {...as('columnheader')} scope="col" className={style} aria-sort={order}>
      <button type="button" className="sort" onClick={sort}>
        {header} <span aria-hidden="true">{mark}</span>
      </button>
    </th>
  );
}

function Cell<T>({ column, row, isFirst }: { column: TableColumn<T>; row: T; isFirst: boolean }) {
  const style = column.isNumber === true ? 'number' : undefined;
  if (!isFirst)
    return (
      <td {...as('cell')} className={style} data-header={column.header}>
        <div>{column.cell(row)}</div>
      </td>
    );
  return (
    <th {...as('rowheader')} scope="row" className={style}>
      {column.cell(row)}
    </th>
  );
}

/** The height of the rows that are not in the document. */
function Gap({ px, columns }: { px: number; columns: number }) {
  if (px <= 0) return null;
  return (
    <tr aria-hidden="true" className="gap">
      <td colSpan={columns} style={{ height: `${px}px` }} />
    </tr>
  );
}
