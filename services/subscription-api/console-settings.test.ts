import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { readConfig } from './config.ts';

const env = {
  DATABASE_URL: 'postgres://db/waybell',
  REDIS_URL: 'redis://redis',
  SECRET_KEYS: `a:${randomBytes(32).toString('base64')}`,
};
const issuer = {
  JWT_ISSUER: 'https://login.example.com/realm/',
  JWT_AUDIENCE: 'waybell',
  JWT_JWKS_URL: 'https://login.example.com/realm/keys',
};
const console = { ...env, ...issuer, CONSOLE_CLIENT_ID: 'waybell-console' };

describe('readConsole', () => {
  test('has people sign in with an access token alone where nothing is set, or the console is no client of the issuer', () => {
    const plain = {
      client: { settings: { view: 'client' }, parents: [] },
      operator: { settings: { view: 'operator' }, parents: [] },
    };
    expect(readConfig(env).console).toEqual(plain);
    expect(readConfig({ ...env, ...issuer }).console).toEqual(plain);
  });

  test('has clients, and no operators, sign in at the issuer, for its audience', () => {
    const { client, operator } = readConfig(console).console;
    expect(client.settings).toEqual({
      view: 'client',
      signIn: {
        issuer: 'https://login.example.com/realm/',
        clientId: 'waybell-console',
        scope: 'webhooks:read webhooks:write',
        audience: 'waybell',
        origins: [],
      },
    });
    expect(operator.settings).toEqual({ view: 'operator' });
  });

  test('takes other scopes and origins of the issuer, and a dashboard for operators', () => {
    const { client, operator } = readConfig({
      ...console,
      CONSOLE_SCOPE: 'api://waybell/read offline_access',
      CONSOLE_ISSUER_ORIGINS: 'https://token.example.com,https://eu.example.com:8443',
      CONSOLE_DASHBOARD_URL: 'https://grafana.example.com/d/waybell',
    }).console;
    expect(client.settings.signIn).toMatchObject({
      scope: 'api://waybell/read offline_access',
      origins: ['https://token.example.com', 'https://eu.example.com:8443'],
    });
    expect(operator.settings.dashboardUrl).toBe('https://grafana.example.com/d/waybell');
  });

  test('takes parents of the console of clients, and of no other', () => {
    const { client, operator } = readConfig({
      ...env,
      CONSOLE_PARENTS: 'https://a.example.com,http://localhost:3000',
    }).console;
    expect(client.parents).toEqual(['https://a.example.com', 'http://localhost:3000']);
    expect(operator.parents).toEqual([]);
  });

  test('takes a name and a colour for both, which can be read', () => {
    const { client, operator } = readConfig({ ...env, CONSOLE_NAME: 'Fährlog Ω', CONSOLE_ACCENT: '#0B6E4F' }).console;
    const brand = { name: 'Fährlog Ω', accent: { light: '#0b6e4f', dark: expect.stringMatching(/^#[\da-f]{6}$/) } };
    expect([client.settings, operator.settings]).toEqual([
      { view: 'client', ...brand },
      { view: 'operator', ...brand },
    ]);
  });

  test.each(['http://localhost:8090', 'http://127.0.0.1:8090/realm', 'http://[::1]:8090'])(
    'takes the issuer %s, which is on this machine',
    (JWT_ISSUER) => {
      expect(readConfig({ ...console, JWT_ISSUER }).console.client.settings.signIn?.issuer).toBe(JWT_ISSUER);
    },
  );

  test.each([
    ['a client of no issuer', { JWT_ISSUER: '' }, /CONSOLE_CLIENT_ID: needs JWT_ISSUER/],
    ['an issuer that is no URL', { JWT_ISSUER: 'login' }, /JWT_ISSUER: is not an https URL/],
    ['an issuer without TLS', { JWT_ISSUER: 'http://login.example.com' }, /JWT_ISSUER: is not an https URL/],
    ['a scope that no issuer can read', { CONSOLE_SCOPE: 'read,  "write"' }, /CONSOLE_SCOPE: is not scopes/],
    ['no scope', { CONSOLE_SCOPE: ' ' }, /CONSOLE_SCOPE: is not scopes/],
    ['a dashboard that is no page', { CONSOLE_DASHBOARD_URL: 'javascript:alert(1)' }, /DASHBOARD_URL: is not a http/],
    ...[
      '*',
      'https:',
      'https://*.example.com',
      'token.example.com',
      'http://token.example.com',
      'https://token.example.com/oauth',
      'https://token.example.com; script-src *',
      'https://token.example.com;sandbox',
      "https://token'example.com",
    ].flatMap((origin) =>
      ['CONSOLE_ISSUER_ORIGINS', 'CONSOLE_PARENTS'].map(
        (name) =>
          [
            `the origin ${origin} in ${name}`,
            { [name]: origin },
            new RegExp(String.raw`${name}: "[^"]+" is not an origin such as https://\w+\.example\.com`),
          ] as const,
      ),
    ),
    ['a name that no title can have', { CONSOLE_NAME: 'a\u0007' }, /CONSOLE_NAME: is not a name/],
    ['a name that is too long', { CONSOLE_NAME: 'x'.repeat(41) }, /CONSOLE_NAME: is not a name/],
    ...['red', '#fff', '#12345g', '#0b6e4f; color: red', 'var(--x)'].map(
      (colour) =>
        [`the colour ${colour}`, { CONSOLE_ACCENT: colour }, /CONSOLE_ACCENT: "[^"]+" is not a colour/] as const,
    ),
  ] as const)('refuses %s, and says why', (_, bad, why) => {
    expect(() => readConfig({ ...console, ...bad })).toThrow(why);
  });

  test('names all that is wrong at once', () => {
    const bad = { CONSOLE_SCOPE: '"', CONSOLE_ISSUER_ORIGINS: '*', CONSOLE_DASHBOARD_URL: 'x', JWT_ISSUER: 'x' };
    expect(() => readConfig({ ...console, ...bad })).toThrow(
      /^(?=[^]*CONSOLE_SCOPE)(?=[^]*CONSOLE_ISSUER_ORIGINS)(?=[^]*CONSOLE_DASHBOARD_URL)(?=[^]*JWT_ISSUER)/,
    );
  });
});
