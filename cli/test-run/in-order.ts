import type { TestFile } from './find-tests.ts';

/**
 * Paths in the order in which they are to begin. Those without servers are first, while the servers start. Then one worker
 * has a whole system, which takes longest, and another those that take turns, one after the other; small ones fill the gaps
 * in the end.
 */
export function inOrder(tests: readonly TestFile[]): string[] {
  const of = (kind: TestFile['needs']) => tests.filter(({ needs }) => needs === kind).map(({ path }) => path);
  const [longest, ...systems] = of('a stack').toReversed();
  return [of('nothing'), longest ?? [], of('a turn'), systems, of('servers')].flat();
}
