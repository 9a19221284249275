import { appendFileSync, renameSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { LogTail } from './log-tail.ts';
import { sharedFolder } from '@waybell/runtime/testing/shared';

const folder = sharedFolder('log');
let logs = 0;

const aLog = (content: string) => {
  logs += 1;
  const path = join(folder, `${logs}.log`);
  writeFileSync(path, content);
  return path;
};

describe('LogTail', () => {
  test('gives complete lines only, each once', () => {
    const path = aLog('one\ntw');
    const tail = new LogTail(path);
    expect(tail.read()).toEqual(['one']);
    appendFileSync(path, 'o\nthree\n');
    expect(tail.read()).toEqual(['two', 'three']);
    expect(tail.read()).toEqual([]);
  });

  test('begins with the last lines where asked to', () => {
    expect(new LogTail(aLog('one\ntwo\nthree\n'), { last: 2 }).read()).toEqual(['two', 'three']);
  });

  test('goes on with the new file after the old one was put aside', () => {
    const path = aLog('one\ntwo\nthree\n');
    const tail = new LogTail(path);
    tail.read();
    renameSync(path, `${path}.1`);
    expect(tail.read()).toEqual([]);
    writeFileSync(path, 'four\n');
    expect(tail.read()).toEqual(['four']);
  });
});
