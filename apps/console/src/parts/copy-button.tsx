import { useState } from 'react';

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
