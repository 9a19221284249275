import { expect, test } from '@jest/globals';
import { sharedAnswer } from './overview.ts';

/** Counts how often it is asked; each answer takes so long on a clock of its own. */
function slowly(tookMs: number) {
  let [at, times] = [0, 0];
  const ask = async () => {
    times += 1;
    await Promise.resolve();
    at += tookMs;
    return times;
  };
  return { answer: sharedAnswer(ask, () => at), pass: (ms: number) => (at += ms), times: () => times };
}

test('all who ask meanwhile, and until it is twenty times as old as it took, share an answer', async () => {
  const { answer, pass, times } = slowly(10);
  expect(await Promise.all([answer(), answer(), answer()])).toEqual([1, 1, 1]);
  pass(199);
  expect(await answer()).toBe(1);
  pass(1);
  expect(await answer()).toBe(2);
  expect(times()).toBe(2);
});

test('a failure is told to those who asked, and not kept', async () => {
  let times = 0;
  const answer = sharedAnswer(async () => {
    times += 1;
    if (times === 1) throw new Error('away');
    return times;
  });
  await expect(answer()).rejects.toThrow('away');
  expect(await answer()).toBe(2);
});
