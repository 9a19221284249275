import type { OfferedAction } from '../subscriptions/subscribing.ts';

/** Whether all words are in the name or the description of an action; one with a `*` is a pattern of the whole name. */
export function isFound({ action, description }: OfferedAction, words: string): boolean {
  const text = `${action} ${action.replaceAll(/[._]/g, ' ')} ${description}`.toLowerCase();
  return words
    .trim()
    .toLowerCase()
    .split(/\s+/)
    .every((word) => (word.includes('*') ? patternOf(word).test(action) : text.includes(word)));
}

function patternOf(word: string): RegExp {
  const parts = word.split('*').map((part) => part.replaceAll(/\W/g, String.raw`\$&`));
  return new RegExp(`^${parts.join('.*')}$`);
}
