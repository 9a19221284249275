import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { signUp, startApi, type TestApi } from '../../testing/api.ts';
import { logDelivery } from '../../testing/logged-delivery.ts';

let api: TestApi;

beforeAll(async () => {
  api = await startApi();
});

afterAll(async () => {
  await api[Symbol.asyncDispose]();
});

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
