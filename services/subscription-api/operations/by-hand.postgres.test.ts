import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import { logDelivery } from '../testing/logged-delivery.ts';

const api = shared(() => startApi());

/** The events of tests that were asked for, the latest last. */
async function testsAskedFor(): Promise<string[]> {
  const asked = "select event from delivery_log.sendings where why = 'test' order by requested_at";
  return (await api.store.postgres.query(asked)).rows.map(({ event }) => event);
}

describe('a test of a subscription', () => {
  test('is the only one at a time, so that a receiver that hangs does not keep the API looking', async () => {
    const { guid: account, token } = await signUp(api, { interface: 'carrier' });
    const body = { callback_url: 'https://receiver.example/' };
    await api.ask('POST', '/v1/webhooks/order.created/subscriptions/', { token, body });
    const { rows } = await api.store.postgres.query('select guid from waybell.subscriptions');
    const subscription = String(rows[0].guid);
    const ask = () => api.ask('POST', `/v1/subscriptions/${subscription}/test`, { token });
    const answer = (event = '') =>
      logDelivery(api.store.postgres, {
        account,
        interface: 'carrier',
        mark: 'x',
        subscription,
        event,
        byHand: 'test',
      });

    const first = ask();
    await until('it is asked for', async () => (await testsAskedFor()).length === 1);
    expect(await ask()).toMatchObject({ status: 409, body: { type: 'urn:waybell:problem:under-way' } });
    expect(await testsAskedFor()).toHaveLength(1);
    await answer((await testsAskedFor()).at(-1));
    expect((await first).status).toBe(200);

    const next = ask();
    await until('another is asked for', async () => (await testsAskedFor()).length === 2);
    await answer((await testsAskedFor()).at(-1));
    expect((await next).status).toBe(200);
  });
});

describe('what is sent by hand', () => {
  test.each(['shipper', 'carrier'] as const)(
    'to a %s tells nobody subscribed from off, paused and stopped',
    async (of) => {
      const { guid: account, token } = await signUp(api, { interface: of });
      const ask = async (method: string, path: string, body?: unknown) => {
        const answer = await api.ask(method, path, { token, body });
        return {
          status: answer.status,
          type: answer.body.type,
          ...(answer.body.data?.object ?? answer.body.data ?? answer.body),
        };
      };
      const put = { actions: ['order.created'], callback_url: 'https://receiver.example/' };
      const { objects } = await ask('PUT', '/v1/subscriptions', put);
      const { guid: subscription } = objects[0].subscription;
      const set = (columns: string) =>
        api.store.postgres.query(`update waybell.subscriptions set ${columns} where guid = $1`, [subscription]);
      const resend = async () => {
        const { delivery } = await logDelivery(api.store.postgres, { account, interface: of, mark: 'x', subscription });
        return ask('POST', `/v1/deliveries/${delivery}/resend`);
      };
      const replay = (more: object) => ask('POST', '/v1/replays', { since: '2026-11-20T09:30:00Z', ...more });

      expect(await resend()).not.toHaveProperty('held');
      await set("paused_until = now() + interval '1 hour'");
      expect(await resend()).toMatchObject({ status: 202, held: 'paused' });
      await set("stopped_at = now(), stopped_reason = 'a loop'");
      expect(await resend()).toMatchObject({ status: 202, held: 'stopped' });
      await set(
        `stopped_at = null, stopped_reason = null, is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted'`,
      );
      const off = { status: 409, type: 'urn:waybell:problem:switched-off' };
      const asked = [{ action: 'order.created' }, { action: '*' }, { action: '*', dry_run: true }];
      expect(await resend()).toMatchObject(off);
      for (const each of asked) expect(await replay(each)).toMatchObject(off);
      expect(await ask('POST', '/v1/replays', { subscription_guid: subscription, missed: true })).toMatchObject(off);
      await set('ended_at = now()');
      const none = { status: 409, type: 'urn:waybell:problem:nobody-subscribed' };
      expect(await resend()).toMatchObject(none);
      for (const each of asked) expect(await replay(each)).toMatchObject(none);
    },
  );
});
