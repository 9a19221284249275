import { useState } from 'react';

/** Beyond it a browser takes seconds to lay a text out. */
const SHOWN = 20_000;

/**
 * A text from elsewhere: nothing in it is more than text. Lines wrap anywhere, and what turns the direction of reading ends
 * with the text. Of a long one the beginning is shown; all of it can be copied.
 */
export function TextBlock({ text, label }: { text: string; label: string }) {
  const [isWhole, setWhole] = useState(false);
  const isCut = !isWhole && text.length > SHOWN;
  return (
    <div className="text-block">
      <pre tabIndex={0} aria-label={label} dir="ltr">
        <bdi>{visible(isCut ? text.slice(0, SHOWN) : text)}</bdi>
      </pre>
      <div className="tools">
        {isCut && (
          <button type="button" className="quiet" onClick={() => setWhole(true)}>
            Show all {text.length.toLocaleString()} characters
          </button>
        )}
        <CopyButton text={text} label={label} />
      </div>
    </div>
  );
}

type CopyProps = {
  text: string;
  /** Name of the copied value. */
  label: string;
  /** Whether the button says that, too, and not to screen readers alone. */
  isNamed?: boolean;
};

export function CopyButton({ text, label, isNamed = false }: CopyProps) {
  const [isCopied, setCopied] = useState(false);
  const copy = async () => {
    await navigator.clipboard.writeText(text);
    setCopied(true);
    setTimeout(() => setCopied(false), 2_000);
  };
  return (
    <button type="button" className="quiet" aria-label={`Copy ${label}`} onClick={() => void copy()}>
      <span aria-live="polite">{isCopied ? 'Copied' : isNamed ? `Copy ${label}` : 'Copy'}</span>
    </button>
  );
}

/** A short text from elsewhere within a line. */
export function Foreign({ text }: { text: string }) {
  return <bdi className="foreign">{visible(text)}</bdi>;
}

/** Beyond it, blanks would be more than the text. */
const DEEPEST = 100;

/** JSON as people read it, digit for digit: only what stands between its parts changes. What is nested too deep stays as it is. */
export function indented(json: string): string {
  let depth = 0;
  let written = '';
  // A string, or a bracket, comma or colon, or anything else between them.
  for (const [part] of json.matchAll(/"(?:[^"\\]|\\.)*"|[{}[\],:]|[^\s"{}[\],:]+/g)) {
    if (part === '}' || part === ']') written += `\n${'  '.repeat(Math.max(0, --depth))}${part}`;
    else if (part === '{' || part === '[') written += `${part}\n${'  '.repeat(++depth)}`;
    else if (part === ',') written += `,\n${'  '.repeat(depth)}`;
    else written += part === ':' ? ': ' : part;
    if (depth > DEEPEST) return json;
  }
  return written.replaceAll(/([{[])\s+([}\]])/g, '$1$2');
}

// oxlint-disable-next-line no-control-regex -- these are what is looked for
const HIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** Shows characters that turn the direction of reading, or are invisible, by their numbers. */
const visible = (text: string): string => text.replaceAll(HIDDEN, (sign) => `⟨${numberOf(sign)}⟩`);

/** How many signs of a text `visible` would show by their number, and the first of them with its line, from 1. */
export function hiddenSigns(text: string): { count: number; first?: { name: string; line: number } } {
  const at = text.search(HIDDEN);
  if (at === -1) return { count: 0 };
  const first = { name: numberOf(text.charAt(at)), line: text.slice(0, at).split('\n').length };
  return { count: text.match(HIDDEN)?.length ?? 0, first };
}

const numberOf = (sign: string): string => `U+${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
