import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { readEnvironment } from './environment.ts';
import { Login } from './login.ts';
import { postgresAddress } from './server-address.ts';
import { postgresSettings } from './settings.ts';
import { TurnedClock } from './turned-clock.ts';

let home: string;
let file: string;

beforeAll(() => {
  home = mkdtempSync(join(tmpdir(), 'waybell-login-'));
  file = join(home, 'url');
});

afterAll(() => rmSync(home, { recursive: true, force: true }));

const urlWith = (password: string) => `postgres://waybell:${password}@postgres/waybell`;
const refusal = () => Object.assign(new Error('password authentication failed'), { code: '28P01' });

beforeEach(() => writeFileSync(file, `${urlWith('old')}\n`));

function aLogin(env: NodeJS.ProcessEnv = { DATABASE_URL_FILE: file }) {
  const clock = new TurnedClock();
  const address = postgresAddress(readEnvironment(postgresSettings, env));
  return { login: new Login('Postgres', address, clock), clock };
}

describe('a login that was refused', () => {
  test('is tried at once with what its file holds by then', () => {
    const { login } = aLogin();
    const tried = login.address();
    writeFileSync(file, urlWith('new'));
    expect(login.address()).toBe(tried);
    login.failed(tried, refusal());
    expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('new')]);
    login.failed(login.address(), refusal());
    expect(login.isDue()).toBe(false);
    writeFileSync(file, urlWith('newest'));
    expect([login.isDue(), login.address().url]).toEqual([true, urlWith('newest')]);
  });

  test('is repeated after 1 s, then 2, 4 and so on up to 30, and says meanwhile that the file holds what was tried', () => {
    const { login, clock } = aLogin();
    const waits = [1_000, 2_000, 4_000, 8_000, 16_000, 30_000, 30_000];
    for (const waitMs of waits) {
      expect(() => login.requireDue()).not.toThrow();
      for (const _atOnce of [1, 2, 3]) login.failed(login.address(), refusal());
      clock.skipTo(clock.now() + waitMs - 1);
      expect(() => login.requireDue()).toThrow('password authentication failed');
      clock.skipTo(clock.now() + 1);
    }
    const said = `postgres: Postgres at postgres, which DATABASE_URL names, refuses the user "waybell" or its password (password authentication failed): DATABASE_URL_FILE (${file}) holds what was tried: correct one of the two`;
    expect(login.waitingFor()).toEqual([said]);
    login.succeeded(login.address());
    expect([login.waitingFor(), login.isDue()]).toEqual([[], true]);
  });

  test('says that the file differs where it cannot be used, and goes on with what it has', () => {
    const { login } = aLogin();
    const tried = login.address();
    writeFileSync(file, 'half of an ad');
    login.failed(tried, refusal());
    expect(login.address()).toBe(tried);
    expect(login.waitingFor()).toEqual([
      expect.stringContaining(`DATABASE_URL_FILE (${file}) differs from what was tried, and cannot be used`),
    ]);
    expect(login.waitingFor().join()).not.toContain('half');
  });

  test('is not read again from the environment itself, which its operator has to correct', () => {
    const { login } = aLogin({ DATABASE_URL: urlWith('old') });
    login.failed(login.address(), refusal());
    expect(login.waitingFor()).toEqual([expect.stringMatching(/: correct DATABASE_URL$/)]);
  });

  test('of an earlier address says nothing of the one that came after it', () => {
    const { login } = aLogin();
    const earlier = login.address();
    login.failed(earlier, refusal());
    writeFileSync(file, urlWith('new'));
    login.succeeded(login.address());
    login.failed(earlier, refusal());
    expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('new')]);
  });
});

test('another failure is repeated at once, with what the file holds by then, and says nothing of a login', () => {
  const { login } = aLogin();
  login.failed(login.address(), Object.assign(new Error('connect ECONNREFUSED'), { code: 'ECONNREFUSED' }));
  expect([login.isDue(), login.waitingFor(), login.address().url]).toEqual([true, [], urlWith('old')]);
  writeFileSync(file, urlWith('new'));
  expect(login.address().url).toBe(urlWith('new'));
});
