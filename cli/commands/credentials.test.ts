import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test, afterAll } from '@jest/globals';
import { describeCredentials, describeInFull, readCredentials, type CredentialsAnswer } from './credentials.ts';

const folder = mkdtempSync(join(tmpdir(), 'waybell-credentials-'));
afterAll(() => rmSync(folder, { recursive: true }));

function fileWith(name: string, text: string): string {
  const path = join(folder, name);
  writeFileSync(path, text);
  return path;
}

const file = fileWith('basic.json', '{"basic":{"username":"ann","password":"p"},"certificate":{}}');
const [certificate, key] = [fileWith('chain.pem', 'CHAIN\n'), fileWith('key.pem', 'KEY\n')];
const pair = { chain: 'CHAIN\n', key: 'KEY\n' };

describe('readCredentials', () => {
  test('reads what files hold, together', () => {
    expect(JSON.parse(readCredentials({ certificate, key }))).toEqual({ certificate: pair });
    expect(JSON.parse(readCredentials({ file }))).toMatchObject({ certificate: {} });
    expect(JSON.parse(readCredentials({ file, certificate, key }))).toEqual({
      basic: { username: 'ann', password: 'p' },
      certificate: pair,
    });
  });

  test.each([
    [{}, /say what to put in/],
    [{ certificate }, /give both/],
    [{ file, key }, /give both/],
    [{ file: fileWith('list.json', '["secret"]') }, /list\.json: it must be a JSON object/],
    [{ file: fileWith('text.json', 'secret') }, /text\.json: it must be a JSON object/],
    [{ file: join(folder, 'none.json') }, /ENOENT/],
  ])('refuses %j, and does not say what it holds', (files, message) => {
    expect(() => readCredentials(files)).toThrow(message);
    expect(() => readCredentials(files)).not.toThrow(/secret/);
  });
});

const NOW_MS = Date.parse('2026-11-20T09:30:00Z');
const none: CredentialsAnswer = {
  host: 'hooks.test:8443',
  headers: null,
  basic: null,
  oauth2: null,
  certificate: null,
  changed_at: '2026-11-19T09:30:00.000Z',
  subscriptions: 1,
};
const oauth2 = {
  token_url: 'https://login.test/token',
  client_id: 'waybell',
  scope: 'hooks',
  secret_in: 'header',
};
const until = (notAfter: string) => ({
  certificate: {
    subject: 'CN=waybell',
    issuer: 'CN=Receivers',
    not_before: '2026-01-01T00:00:00.000Z',
    not_after: notAfter,
    fingerprint: 'AB:CD',
  },
});

describe('describeCredentials', () => {
  test.each<[Partial<CredentialsAnswer>, string]>([
    [{ headers: ['X-Api-Key', 'X-Tenant'] }, 'headers X-Api-Key, X-Tenant  1 subscription'],
    [{ headers: [], basic: { username: 'ann' }, subscriptions: 0 }, 'basic ann  0 subscriptions'],
    [{ oauth2, subscriptions: 3 }, 'oauth2 waybell  3 subscriptions'],
    [until('2026-12-02T09:30:00.000Z'), 'certificate ends in 12 days  1 subscription'],
    [until('2026-12-02T21:30:00.000Z'), 'certificate ends in 12 days  1 subscription'],
    [until('2026-11-21T09:30:00.000Z'), 'certificate ends in 1 day  1 subscription'],
    [until('2026-11-21T09:29:59.999Z'), 'certificate ends within a day  1 subscription'],
    [until('2026-11-20T09:30:00.000Z'), 'certificate over  1 subscription'],
    [
      { headers: ['A'], oauth2, ...until('2026-12-02T09:30:00.000Z') },
      'headers A  oauth2 waybell  certificate ends in 12 days  1 subscription',
    ],
  ])('of %j says what they are, and who uses them', (kinds, said) => {
    expect(describeCredentials({ ...none, ...kinds }, NOW_MS)).toBe(`hooks.test:8443  ${said}`);
  });
});

describe('describeInFull', () => {
  test('says all that is known, on a line each', () => {
    const all = { ...none, headers: ['X-Api-Key'], oauth2, ...until('2026-12-02T09:30:00.000Z') };
    expect(describeInFull(all, NOW_MS)).toEqual([
      'headers: X-Api-Key',
      'oauth2: https://login.test/token  client waybell  scope hooks  secret in the header',
      'certificate: CN=waybell  issued by CN=Receivers  valid from 2026-01-01T00:00:00.000Z to 2026-12-02T09:30:00.000Z  ends in 12 days  AB:CD',
      'changed: 2026-11-19T09:30:00.000Z',
      'called by: 1 subscription',
    ]);
    expect(describeInFull({ ...none, basic: { username: 'ann' } }, NOW_MS)[0]).toBe('basic: ann');
  });
});
