import { describe, expect, test } from '@jest/globals';
import type { AuditNote } from '@waybell/subscription-api/audit-log';
import { describeNote } from './audit.ts';

const ACME = 'aa60b916-40fe-4785-9b07-5f0280d1c8fb';
const OPERATORS = '1b1de682-bab9-42f7-9407-b3aa090d64c9';
const resend: AuditNote = {
  at: new Date('2026-11-27T23:06:55.736Z'),
  who: 'token 8a8e3ffe-4ab5-4890-a053-fac806ce056e',
  origin: '127.0.0.1',
  request_id: 'f3d5a4d7',
  what: 'resend.created',
  account_guid: ACME,
  account_name: 'acme',
  subject_guid: '92fe936f',
  details: { client: 'default' },
  by: null,
  action: null,
  client_id: null,
  callback_origin_before: null,
};

describe('a change in the audit log', () => {
  test('names the client and the account whose token made it for another', () => {
    const by = { account_guid: OPERATORS, account_name: 'operators', client_id: 'maria' };
    expect(describeNote({ ...resend, by })).toBe(
      `2026-11-27T23:06:55.736Z  token 8a8e3ffe-4ab5-4890-a053-fac806ce056e (client maria of account ${OPERATORS} (operators))  ` +
        `from 127.0.0.1  resend.created 92fe936f  of account ${ACME} (acme)  {"client":"default"}  request f3d5a4d7`,
    );
  });

  test('names only the client where the account is its own', () => {
    const by = { account_guid: ACME, account_name: 'acme', client_id: 'tms' };
    expect(describeNote({ ...resend, by })).toContain('(client tms)  from 127.0.0.1');
  });

  test('names nobody where no known token made it', () => {
    expect(describeNote({ ...resend, who: 'command line' })).toContain('Z  command line  from 127.0.0.1');
  });

  test.each<[Partial<AuditNote>, string]>([
    [{ subject_guid: ACME }, `resend.created ${ACME}  (acme)  {`],
    [{ subject_guid: ACME, account_name: null }, `resend.created ${ACME}  {`],
    [{ subject_guid: null, account_name: null }, `resend.created  of account ${ACME}  {`],
    [{ account_guid: null }, 'resend.created 92fe936f  {'],
  ])('says of what it is: %j', (what, told) => {
    expect(describeNote({ ...resend, ...what })).toContain(`  from 127.0.0.1  ${told}`);
  });

  test('says of what came from nowhere that is known no more than that', () => {
    expect(describeNote({ ...resend, origin: null, request_id: null })).toMatch(/ {2}from unknown {2}.*\}$/);
  });
});
