import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { aLocationReport } from '../../testing/location-report.ts';
import { receiver, stack } from '../stand.ts';

export function services(): void {
  describe('up', () => {
    test('has each service log in as itself, with the rights that it needs', async () => {
      const roles = ['waybell_deactivator', 'waybell_deliverer', 'waybell_log', 'waybell_router', 'waybell_tracker'];
      const shipper = await stack.client('shipper');
      await shipper.subscribe('order.paid', receiver.url('/logged-in'));
      const parties = { shipper: shipper.account };
      const seen = new Set<string>();
      await until('each was seen', async () => {
        // Connections without work are closed: every service is given some.
        await shipper.hear('order.paid');
        const place = { latitude: 1, longitude: 2, recordedAt: wallClockMs() };
        const vehicles = { [randomUUID()]: true };
        await stack.upstream.publish(aLocationReport({ ...parties, ...place, vehicles }));
        const { rows } = await stack.postgres.query<{ usename: string }>(
          `select distinct usename from pg_stat_activity
         where datname = current_database() and backend_type = 'client backend'`,
        );
        for (const { usename } of rows) seen.add(usename);
        return roles.every((role) => seen.has(role));
      });
      expect([...seen].toSorted()).toEqual(['waybell', ...roles]);
      const users = stack.stack.services.flatMap(({ spec }) => URL.parse(spec.env['AMQP_URL'] ?? '')?.username ?? []);
      expect(new Set(users).size).toBe(5);
      expect(users).not.toContain(new URL(stack.brokerUrl).username);
    });
  });
}
