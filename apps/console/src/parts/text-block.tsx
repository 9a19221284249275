import { useState } from 'react';

/** A browser needs seconds to lay out a longer text. */
const SHOWN = 20_000;

/**
 * Foreign text: whatever it contains is shown as text. Lines wrap anywhere, and a change of the direction of reading ends with it. Of a
 * long text the beginning is shown; all of it can be copied.
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
  /** Whether the button shows the name, which screen readers always get. */
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

/** A short foreign text within a line. */
export function Foreign({ text }: { text: string }) {
  return <bdi className="foreign">{visible(text)}</bdi>;
}

/** Deeper, indentation would be longer than the text. */
const DEEPEST = 100;

/** Indents JSON. No digit changes, only what is between its tokens. What is nested too deep stays as it is. */
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

// oxlint-disable-next-line no-control-regex -- the pattern is about control characters
const HIDDEN = /[\u0000-\u0008\u000B\u000C\u000E-\u001F\u007F\u200E\u200F\u202A-\u202E\u2066-\u2069\uFEFF]/g;

/** Shows characters that change the direction of reading, or are invisible, by their numbers. */
const visible = (text: string): string => text.replaceAll(HIDDEN, (sign) => `⟨${numberOf(sign)}⟩`);

/** Counts the characters that `visible` shows by their numbers, and finds the first one and its line, from 1. */
export function hiddenSigns(text: string): { count: number; first?: { name: string; line: number } } {
  const at = text.search(HIDDEN);
  if (at === -1) return { count: 0 };
  const first = { name: numberOf(text.charAt(at)), line: text.slice(0, at).split('\n').length };
  return { count: text.match(HIDDEN)?.length ?? 0, first };
}

const numberOf = (sign: string): string => `U+${sign.codePointAt(0)?.toString(16).toUpperCase().padStart(4, '0')}`;
