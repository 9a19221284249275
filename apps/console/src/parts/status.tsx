import { lookOf, statusWord } from './words.ts';

/** A status as a word, a colour and a mark: none of them alone. */
export function Status({ of }: { of: string }) {
  const { tone, mark } = lookOf(of);
  return (
    <span className={`status ${tone}`}>
      <span aria-hidden="true">{mark}</span> {statusWord(of)}
    </span>
  );
}
