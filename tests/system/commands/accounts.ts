import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { adminPort, stack } from '../stand.ts';
import { waybell } from './run.ts';

export function accounts(): void {
  describe('account and token', () => {
    test('make an account whose token the API takes until it is revoked', async () => {
      const account = (await waybell('account create --interface carrier')).stdout.trim();
      const { stdout } = await waybell(`token create --account ${account} --client tms --expires 90d`);
      const token = stdout.trim();
      expect(stdout).toBe(`${token}\n`);
      const call = async () =>
        (
          await fetch(`${stack.stack.addresses['API_URL']}/v1/webhooks`, {
            headers: { authorization: `Bearer ${token}` },
          })
        ).status;
      expect(await call()).toBe(200);
      const { stdout: listed } = await waybell(`token list --account ${account}`);
      expect(listed).toContain('tms');
      expect(listed).not.toContain(token);
      expect((await waybell('token revoke -', { input: `${token}\n` })).code).toBe(0);
      expect(await call()).toBe(401);
    });

    test('are made over HTTP too by a token for operators, where ADMIN_PORT is set', async () => {
      const operators = (await waybell('account create --interface shipper')).stdout.trim();
      const { stdout: token } = await waybell(`token create --account ${operators} --scope admin`);
      const response = await fetch(`http://127.0.0.1:${adminPort}/v1/admin/accounts`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token.trim()}`, 'content-type': 'application/json' },
        body: JSON.stringify({ interface: 'carrier', features: [] }),
      });
      expect(response.status).toBe(201);
      // The operators' document says so.
      const { guid } = (await response.json()) as { guid: string };
      expect((await waybell('account list')).stdout).toContain(`${guid}  carrier  none\n`);
      const { stdout: audited } = await waybell(`audit --account ${guid} --since 1h`);
      expect(audited).toMatch(
        /^\S+Z {2}token \S+ \(client default of account \S+\) {2}from 127\.0\.0\.1 {2}account\.created \S+ {2}\{.*\} {2}request \S+\n$/,
      );
      const { stdout: latest } = await waybell(`audit --account ${operators} --limit 1 --json`);
      expect(JSON.parse(latest)).toMatchObject({ who: 'command line', what: 'token.created' });
    });

    test('make a link that opens the console once, in the list of tokens and in the audit log', async () => {
      const account = (await waybell('account create --interface carrier')).stdout.trim();
      const link = (options: string) =>
        waybell(`token link --account ${account} ${options}`, {
          env: { API_URL: stack.stack.addresses['API_URL'] ?? '' },
        });
      const made = await link('--client tms --write --expires 5m --signed-in 8h');
      const [address, code] = made.stdout.trim().split('/console/#link=');
      expect(address).toBe(stack.stack.addresses['API_URL']);
      const open = () =>
        fetch(`${address}/v1/console-sessions`, {
          method: 'POST',
          headers: { 'content-type': 'application/json' },
          body: JSON.stringify({ code }),
        });
      expect([(await open()).status, (await open()).status]).toEqual([201, 410]);
      const { stdout: listed } = await waybell(`token list --account ${account}`);
      expect(listed).toMatch(
        /^\S+ {2}tms {2}webhooks:read,webhooks:write {2}expires \S+ {2}last used never {2}link\n$/,
      );
      const { stdout: audited } = await waybell(`audit --account ${account}`);
      expect(audited).toMatch(/command line .*console-link\.changed/);
      const { stderr } = await link('--expires 2d');
      expect(stderr).toContain('at most a day');
    });

    test('switch features on and off', async () => {
      const guid = randomUUID();
      await waybell(`account create --interface shipper --guid ${guid} --feature insurance --feature servicepay`);
      const { stderr } = await waybell(`account update --guid ${guid} --remove-feature insurance`);
      expect(stderr).toContain('(features: servicepay)');
    });

    test('give an account a name, which is shown beside its guid', async () => {
      const guid = (await waybell('account create --interface carrier --name Acme')).stdout.trim();
      const asked = [
        'account list',
        `token list --account ${guid}`,
        'audit --account acme',
        'failing --account acme',
        `why ${guid}`,
      ];
      const [listed, tokens, audited, failing, told] = await Promise.all(asked.map((args) => waybell(args)));
      expect(listed?.stdout).toContain(`${guid}  carrier  none  Acme\n`);
      expect(tokens?.stderr).toContain(`account ${guid} (Acme) has no tokens`);
      expect(audited?.stdout).toContain(`account.created ${guid}  (Acme)`);
      expect(failing?.code).toBe(0);
      expect(told?.stdout).toContain(`account ${guid} (Acme)`);
    });

    const refused = [
      ['account create --interface truck', 'shipper or carrier'],
      ['account create --interface carrier --feature gps', 'insurance and servicepay'],
      [`account update --guid ${randomUUID()}`, '--add-feature'],
      [`account update --guid ${randomUUID()} --add-feature insurance`, 'create it first'],
      [`token create --account ${randomUUID()}`, 'create it first'],
      [`token create --account ${randomUUID()} --expires 90`, '90d'],
      [`token revoke ${randomUUID()}`, 'no such token'],
      [`token list --account ${randomUUID()}`, 'create it first'],
      ...['failing', 'waiting list', 'deactivations list'].map(
        (command) => [`${command} --account Nobody`, 'no account is called "Nobody"'] as const,
      ),
      ...['audit', 'why'].map(
        (command) =>
          [
            `${command} --account 0b6f1a52-6f5e-4a3f-9a55-0c8f2f0f7d11`,
            'there is no account 0b6f1a52-6f5e-4a3f-9a55-0c8f2f0f7d11',
          ] as const,
      ),
      ['audit --account me', 'no account is called "me"'],
      ['audit --limit 0', 'whole number'],
    ] as const;

    test('answer what they refuse with what to do, on stderr, and exit code 1', async () => {
      const ended = await Promise.all(
        refused.map(async ([args, advice]) => ({ args, advice, ...(await waybell(args)) })),
      );
      for (const { args, advice, code, stdout, stderr } of ended)
        expect({ args, code, stdout, stderr }).toEqual({
          args,
          code: 1,
          stdout: '',
          stderr: expect.stringContaining(advice),
        });
    });
  });
}
