import { expect, jest, test } from '@jest/globals';
import pg from 'pg';
import { withLocks } from './migrate.ts';

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
