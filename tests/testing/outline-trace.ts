import type { SentSpan } from '@waybell/runtime/testing/read-spans';

/**
 * A trace as a tree, a line a span, those with the same parent by their names and as they began; `!` where it failed. Spans
 * whose parent is not among them stand at the left.
 */
export function outlineTrace(spans: readonly SentSpan[]): string[] {
  const isKnown = new Set(spans.map(({ spanId }) => spanId));
  const childrenOf = (parent: string): SentSpan[] => spans.filter((span) => span.parent === parent);
  const inOrder = (some: SentSpan[]) =>
    some.toSorted((one, other) => one.name.localeCompare(other.name) || one.startMs - other.startMs);
  const lines = (some: SentSpan[], depth: number): string[] =>
    inOrder(some).flatMap((span) => [
      `${'  '.repeat(depth)}${span.name}${span.isError ? ' !' : ''}`,
      ...lines(childrenOf(span.spanId), depth + 1),
    ]);
  return lines(
    spans.filter(({ parent }) => !isKnown.has(parent)),
    0,
  );
}
