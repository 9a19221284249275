import { useId, useState, type ReactNode } from 'react';

type DisclosureProps = { summary: ReactNode; children: () => ReactNode; startsOpen?: boolean };

/** A line that opens to its content, which is rendered only then. */
export function Disclosure({ summary, children, startsOpen = false }: DisclosureProps) {
  const [isOpen, setOpen] = useState(startsOpen);
  const id = useId();
  return (
    <div className="disclosure">
      <button type="button" aria-expanded={isOpen} aria-controls={id} onClick={() => setOpen(!isOpen)}>
        <span className="arrow" aria-hidden="true">
          {isOpen ? '▾' : '▸'}
        </span>
        {summary}
      </button>
      <div id={id} hidden={!isOpen}>
        {isOpen && children()}
      </div>
    </div>
  );
}
