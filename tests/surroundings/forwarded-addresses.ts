import { describe, expect, test } from '@jest/globals';
import { stack } from './stand.ts';
import { shared } from '@waybell/runtime/testing/shared';

/** More than an address may send in a minute with a wrong token, by default. */
const WRONG = 60;

export function forwardedAddresses(): void {
  describe('a proxy that forwards addresses with their ports', () => {
    shared(() => stack.withSettings('subscription-api', { TRUSTED_PROXIES: '127.0.0.0/8,10.0.0.0/8' }));

    test.each([
      ['1.2.3.4:<port>', (port: number) => `11.22.40.1:${port}`],
      ['[IPv6]:<port>', (port: number) => `[2a00:1450::40]:${port}`],
      ['"[IPv6]:<port>"', (port: number) => `"[2a00:1450:1::40]:${port}"`],
      ['a mapped address', (port: number) => `[::ffff:11.22.40.2]:${port}`],
      ['a proxy between, with a port', (port: number) => `11.22.40.3:${port}, 10.0.0.7:${port + 1}`],
      ['what is no address, behind an address', (port: number) => `x${port}, 11.22.40.4:${port}`],
      ['what is no address, behind a proxy', (port: number) => `unknown-${port}, 10.0.0.8:${port}`],
    ])('does not let wrong tokens be tried without end: %s', async (_, forwarded) => {
      const statuses: number[] = [];
      for (let port = 40_000; port < 40_000 + WRONG; port += 1) {
        const headers = { authorization: 'Bearer wrong', 'x-forwarded-for': forwarded(port) };
        statuses.push((await fetch(`${stack.stack.addresses['API_URL']}/v1/public/webhooks`, { headers })).status);
      }
      expect(statuses.at(0)).toBe(401);
      expect(statuses.at(-1)).toBe(429);
    });

    test('is in the audit log by the address of its client alone', async () => {
      const { token, account } = await stack.client('shipper');
      const answer = await fetch(`${stack.stack.addresses['API_URL']}/v1/signing-secrets/rotate`, {
        method: 'POST',
        headers: { authorization: `Bearer ${token}`, 'x-forwarded-for': '11.22.40.9:50123' },
      });
      expect(answer.ok).toBe(true);
      const { rows } = await stack.postgres.query<{ told: string }>(
        'select to_jsonb(log)::text as told from waybell.audit_log log where to_jsonb(log)::text like $1',
        [`%${account}%`],
      );
      const told = rows.map((row) => row.told).join('\n');
      expect(told).toContain('11.22.40.9');
      expect(told).not.toContain('50123');
    });
  });
}
