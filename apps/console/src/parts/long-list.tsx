import { useVirtualizer } from '@tanstack/react-virtual';
import { useEffect, useRef, type ReactNode } from 'react';

type LongListProps<T> = {
  label: string;
  items: readonly T[];
  keyOf: (item: T) => string;
  children: (item: T) => ReactNode;
  /** Called when the end comes into sight. */
  onEnd?: () => void;
  estimatedPx?: number;
};

/** A list of any length: what is in sight, and a little around it, is in the page. */
export function LongList<T>({ label, items, keyOf, children, onEnd, estimatedPx = 56 }: LongListProps<T>) {
  const frame = useRef<HTMLDivElement>(null);
  const rows = useVirtualizer({
    count: items.length,
    getScrollElement: () => frame.current,
    estimateSize: () => estimatedPx,
    getItemKey: (index) => {
      const item = items[index];
      return item === undefined ? index : keyOf(item);
    },
    overscan: 8,
  });
  const shown = rows.getVirtualItems();
  const last = shown.at(-1)?.index ?? -1;
  useEffect(() => {
    if (last >= items.length - 1) onEnd?.();
  }, [last, items.length, onEnd]);
  return (
    <div className="long-list" ref={frame} tabIndex={0} role="region" aria-label={label}>
      <ol style={{ height: `${rows.getTotalSize()}px` }}>
        {shown.map(({ index, key, start }) => {
          const item = items[index];
          return item === undefined ? null : (
            <li
              key={String(key)}
              data-index={index}
              ref={rows.measureElement}
              aria-posinset={index + 1}
              aria-setsize={items.length}
              style={{ transform: `translateY(${start}px)` }}
            >
              {children(item)}
            </li>
          );
        })}
      </ol>
    </div>
  );
}
