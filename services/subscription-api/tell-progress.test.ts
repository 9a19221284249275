import { describe, expect, jest, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { tellProgress } from './migrate.ts';

describe('a migration', () => {
  test('tells that it is begun, again and again that it runs, and that it is done', async () => {
    const info = jest.fn();
    const told = () => info.mock.calls.map(([, message]) => message);
    const end = Promise.withResolvers<number>();
    const running = tellProgress({ info }, 'a.sql', () => end.promise, 1);
    await until('it was told twice', () => told().filter((message) => message === 'migration.running').length > 1);
    end.resolve(4);
    expect(await running).toBe(4);
    expect(new Set(told())).toEqual(new Set(['migration.begun', 'migration.running', 'migration.applied']));
    expect(info).toHaveBeenCalledWith({ name: 'a.sql', seconds: expect.any(Number) }, 'migration.running');
  });

  test('that fails is not told to be done', async () => {
    const info = jest.fn();
    await expect(tellProgress({ info }, 'a.sql', () => Promise.reject(new Error('no')))).rejects.toThrow('no');
    expect(info.mock.calls.map(([, message]) => message)).toEqual(['migration.begun']);
  });
});
