import { afterEach } from '@jest/globals';

/** Gets what the tests of a file open, which is disposed of after each: what was opened last is first. */
export function openedByEach(): AsyncDisposable[] {
  const opened: AsyncDisposable[] = [];
  afterEach(async () => {
    for (const each of opened.splice(0).toReversed()) await each[Symbol.asyncDispose]();
  });
  return opened;
}
