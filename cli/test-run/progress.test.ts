import { expect, test } from '@jest/globals';
import { Progress } from './run-jest.ts';

function aProgress(isTerminal: boolean) {
  let written = '';
  let nowMs = 5_000;
  const write = (text: string) => void (written += text);
  const progress = new Progress({ files: 3, write, isTerminal, now: () => nowMs });
  progress.note({ kind: 'begun', path: 'a.test.ts' });
  progress.note({ kind: 'begun', path: 'b.test.ts' });
  nowMs += 61_000;
  return { progress, written: () => written };
}

test('a log gets a line that says how far it is, and what failed at once', () => {
  const { progress, written } = aProgress(false);
  using _ = progress;
  progress.tell();
  progress.note({ kind: 'ended', path: 'a.test.ts', passed: 4, failed: 0, failure: '' });
  progress.note({ kind: 'ended', path: 'b.test.ts', passed: 2, failed: 1, failure: '  it is not so' });
  progress.tell();
  expect(written().split('\n')).toEqual([
    'waybell: 61 s: 0 of 3 test files, 0 passed; now a.test.ts and 1 more',
    'waybell: FAILED b.test.ts',
    '  it is not so',
    'waybell: 61 s: 2 of 3 test files, 6 passed, 1 FAILED; now nothing',
    '',
  ]);
});

test('on a terminal the line is renewed, what stays is written above it, and in the end it is gone', () => {
  const { progress, written } = aProgress(true);
  progress.say('RabbitMQ starts');
  progress[Symbol.dispose]();
  const line = 'waybell: 61 s: 0 of 3 test files, 0 passed; now a.test.ts and 1 more';
  expect(written()).toBe(`\r\u001B[Kwaybell: RabbitMQ starts\n\r\u001B[K${line}\r\u001B[K`);
});
