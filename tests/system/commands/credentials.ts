import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, describe, expect, test } from '@jest/globals';
import { anAuthority } from '@waybell/runtime/testing/certificate';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { stack } from '../stand.ts';

const HOST = 'receiver.example.com:8443';

export function credentialsCommands(): void {
  describe('./waybell credentials', () => {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-credentials-'));
    afterAll(() => rmSync(folder, { recursive: true }));

    /** The command of a new client. */
    const aClient = async (interfaceName: 'shipper' | 'carrier') => {
      const { token } = await stack.client(interfaceName);
      const env = { API_URL: stack.stack.addresses['API_URL'] ?? '', WAYBELL_TOKEN: token };
      return (args: string[], input = '') => runWaybell(stack, ['credentials', ...args], { env, input });
    };

    test.each(['shipper', 'carrier'] as const)(
      'of a %s puts in what it reads, shows it without secrets, and removes it',
      async (interfaceName) => {
        const run = await aClient(interfaceName);
        const given = { headers: { 'X-Api-Key': 'of the gate' }, basic: { username: 'ann', password: 'of ann' } };
        const said = `${HOST}  headers X-Api-Key  basic ann  0 subscriptions\n`;
        expect(await run(['put', HOST, '--file', '-'], JSON.stringify(given))).toMatchObject({ code: 0, stdout: said });
        expect(await run(['list'])).toMatchObject({ code: 0, stdout: said });
        const shown = await run(['show', HOST]);
        expect([shown.code, shown.stdout]).toEqual([
          0,
          expect.stringMatching(/^headers: X-Api-Key\nbasic: ann\nchanged: 20\S+Z\ncalled by: 0 subscriptions\n$/),
        ]);
        expect((await run(['show', HOST, '--json'])).stdout).not.toMatch(/of the gate|of ann/);
        expect(await run(['remove', HOST])).toMatchObject({ code: 0, stderr: expect.stringContaining(HOST) });
        expect(await run(['list'])).toMatchObject({ stdout: '', stderr: expect.stringContaining('no credentials') });
        const gone = await run(['show', HOST]);
        expect([gone.code, gone.stderr]).toEqual([1, expect.stringContaining(HOST)]);
      },
    );

    test('puts in a certificate, and says when it ends', async () => {
      const run = await aClient('carrier');
      const { cert, key } = anAuthority('Receivers').issue({
        name: 'waybell',
        notAfter: new Date(wallClockMs() + 12.5 * 86_400_000),
      });
      const files = { certificate: join(folder, 'chain.pem'), key: join(folder, 'key.pem') };
      writeFileSync(files.certificate, cert);
      writeFileSync(files.key, key);
      const put = await run(['put', HOST, '--certificate', files.certificate, '--key', files.key]);
      expect([put.code, put.stdout]).toEqual([0, `${HOST}  certificate ends in 12 days  0 subscriptions\n`]);
      expect((await run(['show', HOST])).stdout).toMatch(
        /^certificate: .*waybell {2}issued by .*Receivers {2}valid from 20\S+ to 20\S+ {2}ends in 12 days {2}\S+\n/,
      );
    });

    test('says what is wrong with what was put in, and not what that was', async () => {
      const run = await aClient('carrier');
      const given = { headers: { Host: 'of the gate' }, oauth2: { token_url: 'http://10.0.0.1/of-the-gate' } };
      const wrong = await run(['put', HOST, '--file', '-'], JSON.stringify(given));
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringMatching(/headers[^]*Host/)]);
      expect(wrong.stderr).not.toMatch(/of.the.gate/);
    });
  });
}
