import { useId, useRef, type ReactNode } from 'react';

/** `name`: what the button of it says. */
export type MenuItem = { name: string; onChoose: () => void; isDangerous?: boolean };

type MenuProps = {
  /** Name of the menu, for screen readers. */
  label: string;
  items: readonly MenuItem[];
  children?: ReactNode;
};

/** A button that opens what can be done to a row. The browser's own popover closes it by Escape, or a click elsewhere. */
export function Menu({ label, items, children = '⋯' }: MenuProps) {
  const id = useId();
  const list = useRef<HTMLUListElement>(null);
  return (
    <div className="menu">
      <button type="button" className="quiet" popoverTarget={id} aria-label={label}>
        {children}
      </button>
      <ul id={id} popover="auto" ref={list}>
        {items.map(({ name, onChoose, isDangerous = false }) => (
          <li key={name}>
            <button
              type="button"
              className={isDangerous ? 'bad' : ''}
              onClick={() => {
                list.current?.hidePopover();
                onChoose();
              }}
            >
              {name}
            </button>
          </li>
        ))}
      </ul>
    </div>
  );
}
