import { randomUUID } from 'node:crypto';
import { beforeEach, describe, expect, test } from '@jest/globals';
import type { ServerResponse } from 'node:http';
import { writeCredentials, type ClientCredentials } from '@waybell/notifications/receiver-credentials';
import { readKeyRing } from '@waybell/runtime/secrets';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { integrator, type Integrator } from '../testing/integrator.ts';
import { CLIENTS, startTokenIssuer } from '../testing/token-issuer.ts';
import type { Received } from '../testing/receiver.ts';
import { olderKey, receiver, SHIPPER_ATTEMPTS, stack } from './stand.ts';

const SECRET = 'secret-of-the-client.1';
const issuer = shared(() => startTokenIssuer({ secret: SECRET }));

/** Puts credentials for all callbacks of the integrator to the receiver, as the API does. */
async function put({ client }: Integrator, what: Partial<ClientCredentials> = {}): Promise<void> {
  const guid = randomUUID();
  const oauth2: ClientCredentials = {
    tokenUrl: issuer.tokenUrl,
    clientId: CLIENTS[what.secretIn ?? 'header'],
    clientSecret: SECRET,
    secretIn: 'header',
    ...what,
  };
  const { sealed, keyId } = readKeyRing(olderKey ?? '').seal(writeCredentials({ oauth2 }), guid);
  await stack.postgres.query(
    `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id)
     values ($1, $2, 'default', $3, '{}', '{}', $4, $5)
     on conflict (account_guid, client_id, host) do update set (guid, sealed, key_id) = ($1, $4, $5)`,
    [guid, client.account, new URL(receiver.url('/')).host, sealed, keyId],
  );
}

/** Behaves like a receiver that requires tokens of the issuer. */
const ifAdmitted = (response: ServerResponse, { headers }: Received) =>
  void issuer.admits(headers.authorization).then((isValid) => response.writeHead(isValid ? 200 : 401).end());

async function aShipper(): Promise<Integrator> {
  const one = await integrator({ stack, receiver, interfaceName: 'shipper' });
  one.answer(ifAdmitted);
  return one;
}

const answersAt = ({ path }: Integrator) => receiver.at(path).map(({ answered }) => answered);
const untilDelivered = (one: Integrator, count: number) =>
  until(`${count} are delivered`, () => answersAt(one).filter((status) => status === 200).length === count);

export function accessTokens(): void {
  describe('a receiver that asks for access tokens', () => {
    beforeEach(() => {
      issuer.asked.length = 0;
    });

    test.each(['header', 'body'] as const)(
      'gets them by a secret in the %s, one for all its deliveries',
      async (secretIn) => {
        const one = await aShipper();
        await put(one, { secretIn, scope: 'hooks' });
        await Promise.all(Array.from({ length: 20 }, () => one.hear()));
        await untilDelivered(one, 20);
        expect(answersAt(one)).toEqual(Array.from({ length: 20 }, () => 200));
        expect(issuer.asked).toEqual([`client_secret_${secretIn === 'header' ? 'basic' : 'post'} 200`]);
      },
    );

    test.each([
      ['a token that came', SECRET, 'client_secret_basic 200', { status: 'issued' }],
      [
        'what came instead',
        'wrong',
        'client_secret_basic 401',
        { status: 'failed', detail: expect.stringMatching(/answered 401: .*invalid_client/) },
      ],
    ])('is asked for as soon as its credentials are put in, and tells %s', async (_, clientSecret, asked, token) => {
      const { client } = await aShipper();
      const oauth2 = { token_url: issuer.tokenUrl, client_id: CLIENTS.header, client_secret: clientSecret };
      const answer = await client.call('PUT', '/v1/credentials/receiver.example', { oauth2 });
      const object = { host: 'receiver.example', token };
      expect(answer).toMatchObject({ status: 201, body: { data: { object } } });
      expect(issuer.asked).toEqual([asked]);
      const shown = await client.call('GET', '/v1/credentials/receiver.example');
      expect(JSON.stringify(shown.body)).not.toContain('"token":');
    });

    test('gets another once it refuses one that was revoked, within the same attempt', async () => {
      const one = await aShipper();
      await put(one);
      await one.hear();
      await untilDelivered(one, 1);
      await issuer.revoke();
      await one.hear();
      await untilDelivered(one, 2);
      expect(receiver.at(one.path).map(({ headers, answered }) => [headers['x-webhook-attempt'], answered])).toEqual([
        ['1', 200],
        ['1', 401],
        ['1', 200],
      ]);
      expect(issuer.asked).toHaveLength(2);
    });

    test('whose token URL hangs holds up only itself, and gets all once that answers', async () => {
      const [one, ...others] = await Promise.all([aShipper(), aShipper(), aShipper()]);
      for (const each of [one, ...others]) await put(each);
      for (const each of others) {
        await each.hear();
        await untilDelivered(each, 1);
      }
      const hung = issuer.hang();
      for (let count = 0; count < 40; count += 1) await one.hear();
      await until('its token URL is asked', () => hung.open() > 0);
      for (let count = 0; count < 20; count += 1) for (const each of others) await each.hear();
      for (const each of others) await untilDelivered(each, 21);
      // All that wait share what is asked.
      expect(hung.open()).toBeLessThan(10);
      expect(receiver.at(one.path)).toEqual([]);
      hung.goOn();
      await untilDelivered(one, 40);
    });

    test('gets deliveries that go on while one token after the other ends', async () => {
      issuer.begin({ secret: SECRET, lifeS: 2 });
      const one = await aShipper();
      await put(one);
      let heard = 0;
      await until('four tokens were issued', async () => {
        await one.hear();
        heard += 1;
        return issuer.asked.length >= 4;
      });
      await untilDelivered(one, heard);
      const tokens = new Set(receiver.at(one.path).map(({ headers }) => headers.authorization));
      // The last one may not have been used yet.
      expect(issuer.asked.length - tokens.size).toBeLessThanOrEqual(1);
      expect(new Set(issuer.asked)).toEqual(new Set(['client_secret_basic 200']));
    });

    test('is not called once the secret is another; the attempts say so, until that is put in, without a restart', async () => {
      const one = await aShipper();
      await put(one);
      await one.hear();
      await untilDelivered(one, 1);
      issuer.begin({ secret: 'secret-of-the-client.2' });
      await one.hear();
      const { guid } = await one.standing();
      const attempts = await until('all attempts have failed', async () => {
        const { rows } = await stack.postgres.query<{
          reason: string;
          http_status: number | null;
          answer: string;
        }>(
          `select reason, http_status, answer from delivery_log.attempts
           where subscription = $1 and reason is not null order by attempt`,
          [guid],
        );
        return rows.length === SHIPPER_ATTEMPTS && rows;
      });
      for (const { reason, http_status: status, answer: body } of attempts) {
        expect([reason, status]).toEqual(['credentials_unavailable', null]);
        expect(body).toMatch(/^The token URL http\S+ answered 401: .*invalid_client/);
        expect(body).not.toContain('secret-of');
      }
      // The token of before was refused once, and was in none of these.
      expect(answersAt(one)).toEqual([200, 401]);
      await put(one, { clientSecret: 'secret-of-the-client.2' });
      await one.hear();
      await untilDelivered(one, 2);
    });
  });
}
