import { useEffect, useId, useMemo, useState, type RefObject } from 'react';

/** Height of a row in the style sheet. */
const ROW_PX = 20;
const EDGE_PX = 8;

type EditorProps = {
  label: string;
  text: string;
  change: (text: string) => void;
  faultyLines: readonly number[];
  field: RefObject<HTMLTextAreaElement | null>;
  /** The id of the element with the result of the check. */
  describedBy: string;
};

/** A text with the numbers of its lines, some of them marked. The browser's own field: undo and assistive technology work. */
export function Editor({ label, text, change, faultyLines, field, describedBy }: EditorProps) {
  const id = useId();
  const [top, setTop] = useState(0);
  const height = useHeight(field);
  const lines = useMemo(() => countLines(text), [text]);
  const first = Math.max(1, Math.floor((top - EDGE_PX) / ROW_PX));
  const last = Math.min(lines, first + Math.ceil(height / ROW_PX) + 2);
  const inSight = Array.from({ length: Math.max(0, last - first + 1) }, (_none, place) => first + place);
  const topOf = (line: number) => `${EDGE_PX + (line - 1) * ROW_PX - top}px`;
  return (
    <>
      <label htmlFor={id}>{label}</label>
      <div className="editor">
        <div className="numbers" aria-hidden="true">
          {inSight.map((line) => (
            <span key={line} className={faultyLines.includes(line) ? 'faulty' : ''} style={{ top: topOf(line) }}>
              {faultyLines.includes(line) && '✕ '}
              {line}
            </span>
          ))}
        </div>
        <div className="sheet">
          {faultyLines.map((line) => (
            <div key={line} className="mark-line" style={{ top: topOf(line) }} />
          ))}
          <textarea
            id={id}
            ref={field}
            dir="ltr"
            wrap="off"
            spellCheck={false}
            autoComplete="off"
            autoCapitalize="off"
            aria-describedby={describedBy}
            aria-invalid={faultyLines.length > 0}
            value={text}
            onChange={(event) => change(event.target.value)}
            onScroll={(event) => setTop(event.currentTarget.scrollTop)}
          />
        </div>
      </div>
    </>
  );
}

/** Selects a line of the field, and scrolls it into sight. */
export function goToLine(field: HTMLTextAreaElement | null, line: number): void {
  if (field === null) return;
  const { value } = field;
  let from = 0;
  for (let before = 1; before < line; before += 1) from = value.indexOf('\n', from) + 1;
  const end = value.indexOf('\n', from);
  field.focus();
  field.setSelectionRange(from, end === -1 ? value.length : end);
  field.scrollTop = Math.max(0, (line - 1) * ROW_PX - field.clientHeight / 3);
  field.scrollLeft = 0;
}

function useHeight(field: RefObject<HTMLElement | null>): number {
  const [height, setHeight] = useState(600);
  useEffect(() => {
    const element = field.current;
    if (element === null) return undefined;
    const observer = new ResizeObserver(() => setHeight(element.clientHeight));
    observer.observe(element);
    return () => observer.disconnect();
  }, [field]);
  return height;
}

function countLines(text: string): number {
  let lines = 1;
  for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', at + 1)) lines += 1;
  return lines;
}
