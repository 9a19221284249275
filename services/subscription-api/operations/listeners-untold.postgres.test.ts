import { beforeAll, describe, expect, test } from '@jest/globals';
import { listenerClient } from '@waybell/delivery-log/listener-client';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { signUp, startApi } from '../testing/api.ts';
import type { Answer } from '../testing/ask.ts';
import { logDelivery, type LoggedDelivery } from '../testing/logged-delivery.ts';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { shared } from '@waybell/runtime/testing/shared';
import { aDelivery, putDelivery } from '@waybell/line/waiting-room/testing/waiting-deliveries';

const api = shared(() => startApi());
let token: string;
/** Has no subscription but that of its listener, and one delivery to that, which was given up. */
let account: string;
let own: string;
let listening: string;
let delivery: LoggedDelivery;

const client = listenerClient('default', 'ann');

beforeAll(async () => {
  ({ token } = await signUp(api, { interface: 'carrier', scopes: ['admin'] }));
  ({ guid: account, token: own } = await signUp(api, { interface: 'shipper' }));
  const callbackUrl = 'https://api.test/v1/listeners/a/requests';
  listening = await subscribe(api.store.postgres, { account, client, interface: 'shipper', callbackUrl });
  delivery = await logDelivery(api.store.postgres, {
    account,
    client,
    interface: 'shipper',
    mark: 'https://said.test/x',
  });
});

/** Returns the answer, without and with listeners. */
async function told(path: string, of: (body: Answer['body']) => unknown): Promise<unknown[]> {
  const bodies = [];
  for (const listeners of [false, true]) {
    const asked = `/v1/admin/${path}${path.includes('?') ? '&' : '?'}listeners=${listeners}`;
    bodies.push(of((await api.admin.ask('GET', asked, { token })).body));
  }
  const [without] = bodies;
  // It is the default.
  expect(of((await api.admin.ask('GET', `/v1/admin/${path}`, { token })).body)).toEqual(without);
  return bodies;
}

describe('a listener is nobody’s subscription', () => {
  test('among the subscriptions of an account', async () => {
    const listed = [expect.objectContaining({ guid: listening, client_id: client })];
    expect(await told(`accounts/${account}/subscriptions`, (body) => body.objects)).toEqual([[], listed]);
    expect(await told(`why/${account}`, (body) => body.subscriptions)).toEqual([[], listed]);
    const deliveries = [expect.objectContaining({ guid: delivery.delivery })];
    expect(await told(`why/${account}`, (body) => body.deliveries)).toEqual([[], deliveries]);
  });

  test('in what became of an event: the account had none', async () => {
    const never = { kind: 'suppressed', reason: 'no_subscription', cause: 'never_subscribed' };
    const sent = {
      kind: 'delivery',
      delivery: expect.objectContaining({ guid: delivery.delivery, client_id: client }),
    };
    for (const asked of [delivery.subject, delivery.event]) {
      const [without, withThem] = await told(`why/${asked}`, (body) => body.objects[0].verdicts);
      expect(without).toEqual([expect.objectContaining(never)]);
      expect(withThem).toEqual([sent]);
    }
  });

  test('in why its own client got nothing', async () => {
    const { body } = await api.ask('GET', `/v1/timeline/${delivery.subject}`, { token: own });
    expect(body.data.objects[0].verdicts).toMatchObject([{ kind: 'suppressed', cause: 'never_subscribed' }]);
    expect((await api.ask('GET', '/v1/deliveries', { token: own })).body.data.objects).toEqual([]);
  });

  test('among failing receivers', async () => {
    const origins = (body: Answer['body']) => body.origins.objects.map(({ origin }: { origin: string }) => origin);
    expect(await told(`failing?account=${account}`, origins)).toEqual([[], ['https://said.test']]);
  });

  test('among what has no end', async () => {
    const subject = await logDelivery(api.store.postgres, { account, client, interface: 'shipper', mark: 'x' });
    await api.store.postgres.query('delete from delivery_log.attempts where delivery = $1', [subject.delivery]);
    const undelivered = (body: Answer['body']) => body.undelivered.objects.map(({ guid }: { guid: string }) => guid);
    expect(await told(`failing?account=${account}`, undelivered)).toEqual([[], [subject.delivery]]);
  });

  test('among what waits', async () => {
    const waits = aDelivery({ subscription: listening, interface: 'shipper', createdAt: wallClockMs() });
    await putDelivery(api.store.postgres, waits);
    const waiting = [expect.objectContaining({ subscription_guids: [listening] })];
    expect(await told(`waiting?account=${account}`, (body) => body.endpoints.objects)).toEqual([[], waiting]);
    expect(await told(`failing?account=${account}`, (body) => body.waiting.objects)).toEqual([[], waiting]);
  });

  test('but is told of where it is asked for itself', async () => {
    const asked = async (guid: string) => (await api.admin.ask('GET', `/v1/admin/why/${guid}`, { token })).body;
    expect(await asked(listening)).toMatchObject({
      kind: 'subscription',
      subscription: { guid: listening },
      deliveries: expect.arrayContaining([expect.objectContaining({ guid: delivery.delivery })]),
    });
    expect(await asked(delivery.delivery)).toMatchObject({ kind: 'delivery', delivery: { client_id: client } });
  });
});
