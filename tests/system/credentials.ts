import { randomUUID } from 'node:crypto';
import type { IncomingHttpHeaders } from 'node:http';
import { describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { startWaybell } from '../testing/start-waybell.ts';
import type { Client } from '../testing/test-stack.ts';
import { receiver, SHIPPER_ATTEMPTS, stack } from './stand.ts';

const ACTIONS = { shipper: 'order.paid', carrier: 'order.created' } as const;

/** Credentials that nothing else has: as they are put in, and as a request has them. */
function newCredentials() {
  const [key, username, password] = [randomUUID(), 'waybell', `pässwört:${randomUUID()}`];
  return {
    given: { headers: { 'X-Api-Key': key }, basic: { username, password } },
    sent: { 'x-api-key': key, authorization: `Basic ${Buffer.from(`${username}:${password}`).toString('base64')}` },
  };
}

type Headers = ReturnType<typeof newCredentials>['sent'];

const hasAll = (headers: IncomingHttpHeaders, wanted: Headers): boolean =>
  headers['x-api-key'] === wanted['x-api-key'] && headers.authorization === wanted.authorization;

/** The address of a path that answers 401 to what comes without these. */
function gated(path: string, wanted: Headers): string {
  receiver.answer(path, (response, { headers }) => response.writeHead(hasAll(headers, wanted) ? 200 : 401).end());
  return receiver.url(path);
}

const change = async (client: Client, method: 'PUT' | 'DELETE', url: string, given?: object) => {
  const { status, body } = await client.call(method, `/v1/credentials/${new URL(url).host}`, given);
  if (status >= 300) throw new Error(`${method} was answered with ${status}: ${JSON.stringify(body)}`);
};

const put = (client: Client, url: string, { given }: { given: object }) => change(client, 'PUT', url, given);

/** Returns the requests to the path, in order: their credentials, and their answers. */
const cameTo = (path: string) =>
  receiver.at(path).map(({ headers, answered }) => [headers['x-api-key'], headers.authorization, answered]);

const statusOf = async (client: Client, delivery: string): Promise<unknown> => {
  const { body } = await client.call('GET', `/v1/deliveries/${delivery}`);
  // Both shapes are the contract's.
  const { data, status } = body as { data?: { object: { status: unknown } }; status: unknown };
  return data === undefined ? status : data.object.status;
};

const untilIs = (client: Client, delivery: string, status: string) =>
  until(`${delivery} is ${status}`, async () => (await statusOf(client, delivery)) === status);

export function credentials(): void {
  describe('credentials for a host', () => {
    test.each(['carrier', 'shipper'] as const)(
      'of a %s are in its callbacks to that host, and in none of another client of its account',
      async (interfaceName) => {
        const client = await stack.client(interfaceName);
        const other = await stack.clientOf(client.account, interfaceName, 'other');
        const [action, { given, sent }] = [ACTIONS[interfaceName], newCredentials()];
        const [path, othersPath] = [`/${randomUUID()}`, `/${randomUUID()}`];
        await put(client, receiver.url(path), { given });
        await client.subscribe(action, gated(path, sent));
        await other.subscribe(action, receiver.url(othersPath));
        await client.hear(action);
        await receiver.untilReceived(path, 1);
        await receiver.untilReceived(othersPath, 1);
        await until('both are answered', () =>
          [...cameTo(path), ...cameTo(othersPath)].every(([, , status]) => status),
        );
        expect(cameTo(path)).toEqual([[sent['x-api-key'], sent.authorization, 200]]);
        expect(cameTo(othersPath)).toEqual([[undefined, undefined, 200]]);
      },
    );

    test('are used as they were changed, at once, and no more once they are removed', async () => {
      const client = await stack.client('carrier');
      const [before, after] = [newCredentials(), newCredentials()];
      const path = `/${randomUUID()}`;
      const url = receiver.url(path);
      await client.subscribe(ACTIONS.carrier, url);
      for (const [index, each] of [before, after].entries()) {
        await put(client, url, each);
        await client.hear(ACTIONS.carrier);
        await receiver.untilReceived(path, index + 1);
      }
      await change(client, 'DELETE', url);
      await client.hear(ACTIONS.carrier);
      await receiver.untilReceived(path, 3);
      expect(receiver.at(path).map(({ headers }) => [headers['x-api-key'], headers.authorization])).toEqual([
        [before.sent['x-api-key'], before.sent.authorization],
        [after.sent['x-api-key'], after.sent.authorization],
        [undefined, undefined],
      ]);
    });

    test('have a delivery arrive that its receiver refused without them', async () => {
      const client = await stack.client('carrier');
      const [path, { given, sent }] = [`/${randomUUID()}`, newCredentials()];
      const { promise: isPut, resolve: putIn } = Promise.withResolvers<void>();
      // It refuses when they are there, however long that takes.
      receiver.answer(path, (response, { headers }) =>
        hasAll(headers, sent) ? response.writeHead(200).end() : void isPut.then(() => response.writeHead(401).end()),
      );
      await client.subscribe(ACTIONS.carrier, receiver.url(path));
      const { guid } = await client.hear(ACTIONS.carrier);
      await receiver.untilReceived(path, 1);
      await put(client, receiver.url(path), { given });
      putIn();
      const delivery = messageGuid(guid, await stack.subscriptionAt(receiver.url(path)));
      await untilIs(client, delivery, 'delivered');
      expect(cameTo(path)).toEqual([
        [undefined, undefined, 401],
        [sent['x-api-key'], sent.authorization, 200],
      ]);
    });

    test('go with a test, a delivery that is sent again, and a replay', async () => {
      const client = await stack.client('shipper');
      const [path, credentialsOfIt] = [`/${randomUUID()}`, newCredentials()];
      const url = gated(path, credentialsOfIt.sent);
      await client.subscribe(ACTIONS.shipper, url);
      const subscription = await stack.subscriptionAt(url);
      const heard = [await client.hear(ACTIONS.shipper), await client.hear(ACTIONS.shipper)];
      const [resent = '', replayed = ''] = heard.map(({ guid }) => messageGuid(guid, subscription));
      for (const each of [resent, replayed]) await untilIs(client, each, 'exhausted');
      expect(cameTo(path)).toHaveLength(2 * SHIPPER_ATTEMPTS);

      await put(client, url, credentialsOfIt);
      const tried = await client.call('POST', `/v1/subscriptions/${subscription}/test`);
      expect(tried).toMatchObject({ status: 200, body: { data: { object: { status: 'delivered' } } } });
      await client.call('POST', `/v1/deliveries/${resent}/resend`);
      await untilIs(client, resent, 'delivered');
      const replay = { subscription_guid: subscription, since: '2026-11-20T00:00:00Z' };
      expect((await client.call('POST', '/v1/replays', replay)).status).toBe(202);
      await untilIs(client, replayed, 'delivered');
      expect(cameTo(path).slice(2 * SHIPPER_ATTEMPTS)).toEqual(
        Array.from({ length: 3 }, () => [expect.any(String), credentialsOfIt.sent.authorization, 200]),
      );
    });

    // The API passes on to a listener what it knows alone, so that it shows in no request.
    test('are not used where a deliverer calls a listener of their client', async () => {
      const client = await stack.client('carrier');
      const env = { API_URL: stack.stack.addresses['API_URL'] ?? '', WAYBELL_TOKEN: client.token };
      await put(client, env.API_URL, newCredentials());
      await using listener = startWaybell(['listen', '--forward-to', receiver.url('/listener')], env);
      await until('it listens', () => /to try it/.test(listener.stderr()));
      const { rows } = await stack.postgres.query(
        'select distinct credentials_guid, waybell.authority_of(callback_url) as host from waybell.delivery_targets where account_guid = $1',
        [client.account],
      );
      expect(rows).toEqual([{ credentials_guid: null, host: new URL(env.API_URL).host }]);
    });
  });
}
