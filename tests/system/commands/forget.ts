import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { receiver, stack } from '../stand.ts';
import { waybell } from './run.ts';

export function forget(): void {
  describe('forget', () => {
    test('only counts without --yes, and says what to add; with it, it deletes as much', async () => {
      const carrier = await stack.client('carrier');
      await carrier.subscribe('order.created', receiver.url('/forgotten'));
      const payload = { id: 4711, status: 'new', order_guid: randomUUID() };
      await carrier.hear('order.created', { payload });
      await carrier.hear('order.created', { payload, occurred_at: 'yesterday' });
      const ask = (more = '') => waybell(`forget --subject ${payload.order_guid}${more}`);
      const counted = await until('all of it is written down', async () => {
        const { stderr } = await ask();
        return /would delete (1 bodies and \d answers) .* and (1 messages) from/.exec(stderr) ?? undefined;
      });
      const { code, stderr } = await ask();
      expect([code, stderr]).toEqual([1, expect.stringMatching(/nothing was deleted: add --yes/)]);
      const really = await ask(' --yes');
      expect(really.code).toBe(0);
      expect(really.stderr).toContain(`deleted ${counted[1]} from the log`);
      expect(really.stderr).toContain(`and ${counted[2]} from the rejected queue`);
    });
  });
}
