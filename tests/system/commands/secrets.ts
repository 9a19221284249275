import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { newerKey, olderKey, receiver, stack } from '../stand.ts';
import { created, lines, waybell } from './run.ts';

export function secrets(): void {
  describe('secrets rotate', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-secrets-'));
    afterAll(() => rmSync(folder, { recursive: true }));
    const fileWith = (name: string, content: string) => {
      writeFileSync(join(folder, name), `${content}\n`);
      return join(folder, name);
    };

    test('takes keys and address from files, says what is in use, and receivers know the line by the same token', async () => {
      const carrier = await stack.client('carrier');
      const token = await carrier.subscribe('order.created', receiver.url('/rotated'));
      const env = {
        SECRET_KEYS_FILE: fileWith('keys', `${newerKey},${olderKey}`),
        DATABASE_URL: '',
        DATABASE_URL_FILE: fileWith('database', stack.stack.servers.url('postgres')),
      };
      const { code, stdout, stderr } = await waybell('secrets rotate', { env });
      expect([code, stdout]).toEqual([0, expect.stringMatching(/^newer {2}\d+ secrets\nolder {2}0 secrets\n$/)]);
      expect(stderr).toContain('may leave SECRET_KEYS: older');
      expect(stderr + stdout).not.toContain(newerKey);
      await waybell('publish', { input: lines(created(carrier.account)) });
      const [received] = await receiver.untilReceived('/rotated', 1);
      expect(received?.headers['x-service-verification-token']).toBe(token);
    });

    test('fails while a key is in use that is not the newest, and says what to do', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/not-rotated'));
      const { code, stderr } = await waybell('secrets rotate', { env: { SECRET_KEYS: newerKey ?? '' } });
      expect([code, stderr]).toEqual([1, expect.stringContaining('SECRET_KEYS lacks the key "older": put it back')]);
    });
  });

  describe('secrets replace', () => {
    test('lists whose secrets open no more, makes new ones only with --yes, and receivers get them', async () => {
      const carrier = await stack.client('carrier');
      const token = await carrier.subscribe('order.created', receiver.url('/replaced'));
      await stack.postgres.query(
        `update waybell.subscriptions set verification_token_sealed = '\\x00' where account_guid = $1`,
        [carrier.account],
      );
      const env = { SECRET_KEYS: `${newerKey},${olderKey}` };
      const line = `${carrier.account}  default  verification token of order.created\n`;
      const trial = await waybell('secrets replace', { env });
      expect(trial).toMatchObject({ code: 1, stdout: line });
      expect(trial.stderr).toContain('1 secret would be replaced: add --yes');
      expect(await waybell('secrets replace --yes', { env })).toMatchObject({ code: 0, stdout: line });
      await waybell('publish', { input: lines(created(carrier.account)) });
      const [received] = await receiver.untilReceived('/replaced', 1);
      expect(received?.headers['x-service-verification-token']).toMatch(/^[\w-]{43}$/);
      expect(received?.headers['x-service-verification-token']).not.toBe(token);
      const after = await waybell('secrets replace --yes', { env });
      expect(after).toMatchObject({ code: 0, stdout: '' });
    });

    test('lists the credentials that no key opens, for their clients to put in again, and leaves them', async () => {
      const carrier = await stack.client('carrier');
      const put = () =>
        carrier.call('PUT', '/v1/credentials/receiver.example.com', { basic: { username: 'a', password: 's3cret' } });
      await put();
      await stack.postgres.query(`update waybell.credentials set key_id = 'lost' where account_guid = $1`, [
        carrier.account,
      ]);
      const env = { SECRET_KEYS: `${newerKey},${olderKey}` };
      const line = `${carrier.account}  default  credentials for receiver.example.com\n`;
      for (const command of ['secrets replace', 'secrets replace --yes']) {
        const { code, stdout, stderr } = await waybell(command, { env });
        expect([code, stdout]).toEqual([0, line]);
        expect(stderr).toContain('they have to put them in again (PUT /v1/credentials/{host})');
      }
      await put();
      expect(await waybell('secrets replace', { env })).toMatchObject({ code: 0, stdout: '' });
    });
  });
}
