import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { createToken } from '@waybell/subscription-api/tokens';
import { curl, wordsFor } from '../testing/curl.ts';
import type { Client } from '../testing/test-stack.ts';
import { adminPort, receiver, settingsOf, stack } from './stand.ts';

const ACTIONS = { shipper: 'order.paid', carrier: 'order.created' } as const;

/** Returns the answer to a shell command, by making curl's request. */
async function run(client: Client, command: string) {
  const env = { API_URL: stack.stack.addresses['API_URL'] ?? '', TOKEN: client.token };
  const authorized = command.replace(
    /^curl/,
    'curl -H "Authorization: Bearer $TOKEN" -H "Content-Type: application/json"',
  );
  const response = await curl(wordsFor('curl', authorized, env)[0] ?? []);
  const text = await response.text();
  const { data, ...bare } = text === '' ? {} : JSON.parse(text);
  return { status: response.status, body: data?.object ?? data ?? bare };
}

/** A client that is subscribed to the action by PUT, and where its receiver is. */
async function aClient(interfaceName: 'shipper' | 'carrier') {
  const client = await stack.client(interfaceName);
  const [action, path] = [ACTIONS[interfaceName], `/${randomUUID()}`];
  receiver.answer(path, 200);
  const wanted = (at: string) => JSON.stringify({ callback_url: receiver.url(at), actions: [action] });
  const put = (at = path) => run(client, `curl -X PUT "$API_URL/v1/subscriptions" -d '${wanted(at)}'`);
  const { body } = await put();
  const { guid, verification_token: verificationToken } = body.objects[0].subscription;
  const at = `"$API_URL/v1/subscriptions/${guid}`;
  const hear = async () => messageGuid((await client.hear(action)).guid, guid);
  const arrived = () => receiver.at(path).map(({ headers }) => headers['webhook-id']);
  const untilArrived = (delivery: string) => until(`${delivery} arrives`, () => arrived().includes(delivery));
  return { client, action, path, put, guid, verificationToken, at, hear, arrived, untilArrived };
}

const untilStatus = (
  client: Client,
  delivery: string,
  what: (told: { status: string; reason?: string; waiting?: { why: string } }) => boolean,
) =>
  until(`${delivery} is so`, async () => {
    const { status, body } = await run(client, `curl "$API_URL/v1/deliveries/${delivery}"`);
    return status === 200 && what(body);
  });

async function operator(method: string, path: string, body: object = {}): Promise<number> {
  const token = await createToken(stack.postgres, {
    accountGuid: (await stack.client('carrier')).account,
    scopes: ['admin'],
  });
  const address = `http://127.0.0.1:${adminPort}/v1/admin/${path}`;
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' };
  return (await fetch(address, { method, headers, body: JSON.stringify(body) })).status;
}

export function inPlace(): void {
  describe.each(['shipper', 'carrier'] as const)('a subscription of a %s', (interfaceName) => {
    settingsOf('deactivator', () => ({ DEACTIVATE_ON_EXHAUSTED: 'shipper,carrier' }));

    test('that was switched off is tested, switched on with its token, and gets what it missed, once', async () => {
      const { client, action, path, guid, verificationToken, at, hear, arrived, untilArrived } =
        await aClient(interfaceName);
      receiver.answer(path, 500);
      const failed = await hear();
      await until('it is off', async () => (await run(client, `curl ${at}"`)).body.deactivation?.rule === 'exhausted');
      const suppressed = (await client.hear(action)).guid;
      const made = messageGuid(suppressed, guid);
      await until('it has failed', async () => {
        const { body } = await run(client, `curl "$API_URL/v1/timeline/${suppressed}"`);
        return body.objects.length > 0;
      });

      // A receiver that fails is seen to fail, and nothing is switched on by that.
      expect((await run(client, `curl -X POST ${at}/test"`)).body.status).not.toBe('delivered');
      receiver.answer(path, 200);
      expect((await run(client, `curl -X POST ${at}/test"`)).body.status).toBe('delivered');
      const tests = receiver.at(path).filter(({ headers }) => headers['x-webhook-test'] === 'true');
      expect(tests).toHaveLength(2);

      const on = await run(client, `curl -X PATCH ${at}" -d '{"is_active": true}'`);
      expect(on.body).toMatchObject({ is_active: true, verification_token: verificationToken, missed: { count: 2 } });
      const replay = `curl -X POST "$API_URL/v1/replays" -d '{"subscription_guid": "${guid}", "missed": true}'`;
      const asked = await Promise.all([run(client, replay), run(client, replay)]);
      expect(asked.map(({ status }) => status).toSorted((one, other) => one - other)).toEqual([202, 409]);
      for (const delivery of [failed, made]) await untilArrived(delivery);
      const next = await hear();
      await untilArrived(next);
      expect(arrived().filter((delivery) => delivery === made)).toHaveLength(1);
      const last = receiver.at(path).find(({ headers }) => headers['webhook-id'] === next);
      expect(last?.headers['x-service-verification-token']).toBe(verificationToken);
    });

    test('that is paused has what is due wait, and sends it when it is resumed', async () => {
      const { client, at, put, path, hear, arrived, untilArrived } = await aClient(interfaceName);
      expect((await run(client, `curl -X POST ${at}/pause" -d '{}'`)).status).toBe(200);
      const delivery = await hear();
      await untilStatus(client, delivery, ({ status, waiting }) => status === 'waiting' && waiting?.why === 'paused');
      expect((await run(client, `curl -X POST ${at}/test"`)).body.status).toBe('delivered');
      expect(arrived()).not.toContain(delivery);
      // A receiver that starts again and puts what it wants does not end a pause.
      expect((await put(path)).body.objects[0]).toMatchObject({
        result: 'unchanged',
        subscription: { is_active: true },
      });
      expect(arrived()).not.toContain(delivery);
      await run(client, `curl -X POST ${at}/resume"`);
      await untilArrived(delivery);
    });

    test.each(['subscription', 'host'])(
      'whose %s an operator stops has what is due wait, until an operator starts it',
      async (what) => {
        const { client, guid, at, hear, arrived, untilArrived } = await aClient(interfaceName);
        const { hostname } = new URL(receiver.url('/'));
        const place = what === 'host' ? `hosts/${hostname}` : `subscriptions/${guid}`;
        expect(await operator('POST', `${place}/stop`, { reason: 'it is being moved' })).toBe(200);
        try {
          const delivery = await hear();
          await untilStatus(
            client,
            delivery,
            ({ status, waiting }) => status === 'waiting' && waiting?.why === 'stopped',
          );
          expect((await run(client, `curl ${at}"`)).body.stopped).toMatchObject({ reason: 'it is being moved' });
          const tried = await run(client, `curl -X POST ${at}/test"`);
          expect([tried.status, tried.body.type]).toEqual([409, 'urn:waybell:problem:stopped']);
          await run(client, `curl -X POST ${at}/resume"`);
          expect(arrived()).not.toContain(delivery);
          expect(await operator('POST', `${place}/start`)).toBe(what === 'host' ? 204 : 200);
          await untilArrived(delivery);
        } finally {
          await operator('POST', `${place}/start`);
        }
      },
    );
  });
}
