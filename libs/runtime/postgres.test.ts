import { expect, test } from '@jest/globals';
import pg from 'pg';
import { isBusy, isOutage, isRefused, whenAvailable } from './postgres.ts';

const answer = (code: string) => Object.assign(new pg.DatabaseError('said by the server', 0, 'error'), { code });

test.each([
  ['28P01', 'a password that was changed'],
  ['40001', 'a serialization failure'],
  ['40P01', 'a deadlock'],
  ['53100', 'a full disk'],
  ['55P03', 'a lock that somebody holds'],
  ['57014', 'a statement that took too long'],
  ['57P01', 'a server that shuts down'],
  ['25006', 'a server that is read-only'],
])('Postgres cannot work now: %s, %s', (code) => {
  expect(isOutage(answer(code))).toBe(true);
});

test.each(['22001', '23505', '42P01'])('the statement is wrong: %s', (code) => {
  expect(isOutage(answer(code))).toBe(false);
});

test.each([
  ['28000', 'error', 'a user that was dropped'],
  ['3D000', 'FATAL', 'a database that is gone'],
  ['22023', 'FATAL', 'a role to take on that was dropped'],
  ['42501', 'FATAL', 'a role to take on that is the user’s no more'],
])('Postgres refuses the connection: %s, %s, %s', (code, severity) => {
  const error = Object.assign(answer(code), { severity });
  expect([isRefused(error), isOutage(error)]).toEqual([true, true]);
});

test.each(['22023', '42501', '57P01'])('Postgres does not refuse the connection: %s', (code) => {
  expect(isRefused(answer(code))).toBe(false);
});

test('what the server did not answer is the connection’s', () => {
  expect(isOutage(new Error('Connection terminated unexpectedly'))).toBe(true);
});

test.each([
  ['40P01', true],
  ['53300', true],
  ['55P03', true],
  ['57014', true],
  ['53100', true],
  ['57P01', false],
])('Postgres says %s: it is busy: %s', (code, isSo) => {
  expect(isBusy(answer(code))).toBe(isSo);
});

test.each([
  ['53100', 'postgres: lacks disk or memory for a statement (said by the server)'],
  ['53200', 'postgres: lacks disk or memory for a statement (said by the server)'],
  ['53300', 'postgres'],
  ['57P01', 'postgres'],
])('what is waited for after %s is %s', async (code, dependency) => {
  const fail = () => Promise.reject(answer(code));
  await expect(whenAvailable({ query: fail }, fail)).rejects.toMatchObject({ dependency });
});
