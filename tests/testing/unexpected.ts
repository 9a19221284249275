import type { Books } from './books.ts';

/** A message that is no event, and the expected reason of its rejection. Its bytes are read as Latin-1. */
export type Malformed = { body: string; reason: string };

/** Returns requests that no receiver should have got, and malformed events that were not rejected so, once each. */
export function unexpected({ owed, seen, rejections }: Books, malformed: readonly Malformed[]): string[] {
  const known = new Set(owed.flatMap(({ event, to }) => [event, to?.delivery]));
  const strangers = seen.filter(({ delivery }) => !known.has(delivery));
  const left = Map.groupBy(rejections.filter(({ messageId }) => !known.has(messageId)).map(keyOf), (key) => key);
  const missing = malformed.map(keyOf).filter((key) => left.get(key)?.pop() === undefined);
  return [
    ...strangers.map(({ delivery, attempt, path }) => `attempt ${attempt} at unknown ${delivery} came to ${path}`),
    ...missing.map((key) => `malformed and not rejected so: ${key}`),
    ...[...left.values()].flat().map((key) => `rejected, which nobody was owed: ${key}`),
  ];
}

const keyOf = ({ reason, body }: Malformed): string => `${reason}: ${body}`;
