import type { TestFile } from './find-tests.ts';

/**
 * Sorts paths by when they begin: whole systems, which take longest and wait most, then those that break a RabbitMQ; those
 * without servers keep the cores busy meanwhile, and the small ones on servers fill the gaps in the end.
 */
export function inOrder(tests: readonly TestFile[]): string[] {
  const of = (kind: TestFile['needs']) => tests.filter(({ needs }) => needs === kind).map(({ path }) => path);
  return [of('a stack').toReversed(), of('a turn'), of('nothing'), of('servers'), of('a network')].flat();
}
