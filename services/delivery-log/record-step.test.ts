import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import type { WriteOutcomes } from '@waybell/delivery-log/write/write-outcomes';
import { FLUSH_MS } from '@waybell/line/hand-over/sendings';
import type { Outcome } from '@waybell/line/outcomes';
import { fatesOf } from '@waybell/line/testing/handled';
import { record } from '@waybell/line/testing/told-step';
import { recordOutcomes, WRITTEN_TOGETHER } from './record-step.ts';

const aRecord = (): Outcome => record(randomUUID()).outcome;

/** Writes records of messages; refuses those given. */
async function written(messages: readonly Outcome[][], refused: readonly (Outcome | undefined)[]) {
  const batches: (readonly Outcome[])[] = [];
  const write: WriteOutcomes = async (outcomes) => {
    batches.push(outcomes);
    return outcomes.flatMap((outcome) => (refused.includes(outcome) ? [{ outcome, reason: 'too odd' }] : []));
  };
  const fates = await fatesOf(recordOutcomes({ write }), messages);
  return { batches, fates };
}

const DONE = { kind: 'done', caused: [] };

describe('records of messages that come together', () => {
  const messages = [[aRecord(), aRecord()], [aRecord()], [aRecord(), aRecord(), aRecord()]];

  test('are written in one go, and cause nothing', async () => {
    expect(await written(messages, [])).toEqual({ batches: [messages.flat()], fates: [DONE, DONE, DONE] });
  });

  test('have their message rejected, and no other, where one of them is refused', async () => {
    const { fates } = await written(messages, [messages[2]?.[0], messages[2]?.[2]]);
    const detail = '2 of 3 records could not be written; the first: too odd';
    expect(fates).toEqual([DONE, DONE, { kind: 'reject', reason: 'unwritable_record', detail }]);
  });

  test('all fail where Postgres takes none', async () => {
    const handle = recordOutcomes({ write: () => Promise.reject(new Error('away')) });
    await expect(fatesOf(handle, messages)).rejects.toThrow('away');
  });
});

test('what looks once a second knows a record within 1.5 s', () => {
  const left = 1_500 - 1_000 - FLUSH_MS - WRITTEN_TOGETHER.afterMs;
  expect(left).toBeGreaterThan(0);
});
