import { useId, useState, type ReactNode } from 'react';

/** A line that opens to what is behind it, which is asked for only then. */
export function Disclosure({ summary, children }: { summary: ReactNode; children: () => ReactNode }) {
  const [isOpen, setOpen] = useState(false);
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
