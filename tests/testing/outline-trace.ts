import type { SentSpan } from '@waybell/runtime/testing/read-spans';

/** Whether none is missing that one of them is a child of: those of a request, and of a publish, are there before it. */
export function isWhole(spans: readonly SentSpan[], upstreamSpan: string): boolean {
  const known = new Set([upstreamSpan, ...spans.map(({ spanId }) => spanId)]);
  return spans.every(({ parent }) => known.has(parent));
}

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
