import { describe, expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { until } from '@waybell/runtime/testing/until';
import { isBeyondNext, isLater, reportProgress, withLocks } from './migrate.ts';

describe('of two releases', () => {
  test.each([
    ['0.10.0', '0.9.9', true],
    ['0.9.1', '0.10.0', false],
    ['1.0.0', '0.20.0', true],
    ['0.2.0', '0.2.0', false],
  ])('%s is later than %s: %s', (release, than, is) => expect(isLater(release, than)).toBe(is));

  test.each([
    ['0.3.0', '0.2.5', false],
    ['0.4.0', '0.2.5', true],
    ['0.2.9', '0.2.0', false],
    ['1.0.0', '0.9.0', false],
    ['1.1.0', '0.9.0', true],
    ['2.0.0', '0.9.0', true],
    ['0.2.0', '0.9.0', false],
  ])('%s after %s skips a version: %s', (release, from, is) => expect(isBeyondNext(release, from)).toBe(is));
});

describe('a migration', () => {
  test('tells that it is begun, again and again that it runs, and that it is done', async () => {
    const info = jest.fn();
    const messages = () => info.mock.calls.map(([, message]) => message);
    const end = Promise.withResolvers<number>();
    const running = reportProgress({ info }, 'a.sql', () => end.promise, 1);
    await until('it was told twice', () => messages().filter((message) => message === 'migration.running').length > 1);
    end.resolve(4);
    expect(await running).toBe(4);
    expect(new Set(messages())).toEqual(new Set(['migration.begun', 'migration.running', 'migration.applied']));
    expect(info).toHaveBeenCalledWith({ name: 'a.sql', seconds: expect.any(Number) }, 'migration.running');
  });

  test('that fails is not told to be done', async () => {
    const info = jest.fn();
    await expect(reportProgress({ info }, 'a.sql', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(info.mock.calls.map(([, message]) => message)).toEqual(['migration.begun']);
  });
});

const failed = (code: string) => Object.assign(new pg.DatabaseError(`failed: ${code}`, 0, 'error'), { code });

test('what cannot have its locks is done again until it can, and is told of once', async () => {
  const info = jest.fn();
  const refusals = ['55P03', '40P01'].map(failed);
  const work = async () => {
    const refused = refusals.shift();
    if (refused !== undefined) throw refused;
    return 'done';
  };
  expect(await withLocks({ info }, work)).toBe('done');
  expect(info.mock.calls).toEqual([[{ waitingFor: 'locks', reason: 'failed: 55P03' }, 'migration.waiting']]);
});

test('another failure is not done again', async () => {
  const work = jest.fn(async () => Promise.reject(failed('42P01')));
  await expect(withLocks({ info: jest.fn() }, work)).rejects.toThrow('failed: 42P01');
  expect(work).toHaveBeenCalledTimes(1);
});
