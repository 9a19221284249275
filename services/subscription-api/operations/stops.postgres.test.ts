import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';

const callback_url = 'https://hooks.test/a?key=secret';
const reason = 'the receiver is being moved';

const api = shared(() => startApi());
let operator: { guid: string; token: string };

const ask = (method: string, path: string, body?: unknown) =>
  api.admin.ask(method, `/v1/admin/${path}`, { token: operator.token, body });

beforeAll(async () => {
  operator = await signUp(api, { interface: 'carrier', scopes: ['admin'] });
});

/** A carrier that is subscribed to an action. */
async function aCarrier(url = callback_url) {
  const { guid: account, token } = await signUp(api, { interface: 'carrier' });
  const put = async () => {
    const { body } = await api.ask('PUT', '/v1/subscriptions', {
      token,
      body: { callback_url: url, actions: ['order.created'] },
    });
    return body.objects[0].subscription;
  };
  const see = async () => (await api.ask('GET', '/v1/subscriptions', { token })).body.objects[0];
  const end = () => api.ask('DELETE', '/v1/webhooks/order.created/subscriptions', { token });
  return { account, token, guid: (await put()).guid as string, put, see, end };
}

/** Returns the audit log's entries about it, the last change first. */
const changes = async (query: string) => (await ask('GET', `audit?${query}`)).body.objects;
const held = async (guid: string) =>
  (await api.store.postgres.query('select held from waybell.delivery_targets where subscription_guid = $1', [guid]))
    .rows[0].held;

describe('a subscription that an operator stops', () => {
  test('is shown as stopped to its client and to operators, who are named for it, until it is started', async () => {
    const { account, guid, see } = await aCarrier();
    const stopped = await ask('POST', `subscriptions/${guid.toUpperCase()}/stop`, { reason });
    expect([stopped.status, stopped.body]).toMatchObject([
      200,
      { guid, stopped: { reason }, account: { guid: account } },
    ]);
    expect((await see()).stopped).toEqual(stopped.body.stopped);
    expect(await held(guid)).toBe('stopped');
    const [view] = (await ask('GET', `accounts/${account}/subscriptions`)).body.objects;
    expect(view).toMatchObject({ guid, paused_until: null, stopped: { reason } });
    expect((await ask('GET', 'stops')).body.subscriptions).toContainEqual(view);
    const [change] = await changes(`subscription=${guid}`);
    expect(change).toMatchObject({
      what: 'subscription.changed',
      who: expect.stringMatching(/^token /),
      account: { guid: account },
      details: { stopped_reason: reason },
    });

    const again = await ask('POST', `subscriptions/${guid}/stop`, { reason: 'for another week' });
    expect(again.body.stopped).toEqual({ at: stopped.body.stopped.at, reason: 'for another week' });
    expect((await changes(`subscription=${guid}`))[0].details).toEqual({ stopped_reason: 'for another week' });

    expect((await ask('POST', `subscriptions/${guid}/start`)).body.stopped).toBeNull();
    expect(await see()).not.toHaveProperty('stopped');
    expect(await held(guid)).toBeNull();
    expect((await ask('POST', `subscriptions/${guid}/start`)).status).toBe(409);
  });

  test('stays stopped when its client ends it and subscribes again, however often', async () => {
    const { guid, put, see, end } = await aCarrier();
    await ask('POST', `subscriptions/${guid}/stop`, { reason });
    let last = guid;
    for (let round = 0; round < 2; round += 1) {
      await end();
      expect((await ask('GET', 'stops')).body.subscriptions).toContainEqual(
        expect.objectContaining({ guid: last, standing: 'ended' }),
      );
      last = (await put()).guid;
      expect((await see()).stopped.reason).toBe(reason);
      expect(await held(last)).toBe('stopped');
    }
    // The operator names it by its guid, in all following requests.
    expect((await ask('POST', `subscriptions/${guid}/start`)).body).toMatchObject({ guid: last, stopped: null });
    await end();
    await put();
    expect(await see()).not.toHaveProperty('stopped');
  });

  test('stays stopped where its client ends it and subscribes again at the same moment', async () => {
    const { guid, see } = await aCarrier();
    const client = await api.store.postgres.connect();
    try {
      await client.query('begin');
      await client.query('update waybell.subscriptions set ended_at = now(), is_active = false where guid = $1', [
        guid,
      ]);
      await client.query(
        `insert into waybell.subscriptions (guid, interface, account_guid, client_id, action, callback_url,
           verification_token_sealed, verification_token_key_id)
         select gen_random_uuid(), interface, account_guid, client_id, action, callback_url, verification_token_sealed,
           verification_token_key_id
         from waybell.subscriptions where guid = $1`,
        [guid],
      );
      const stop = ask('POST', `subscriptions/${guid}/stop`, { reason });
      await until('it waits', async () => {
        const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
        // In a transaction each look has what the first one saw.
        return (await api.store.postgres.query(waiting)).rows.length > 0;
      });
      await client.query('commit');
      expect((await stop).status).toBe(200);
    } finally {
      client.release(true);
    }
    const { stopped, guid: next } = await see();
    expect([next === guid, stopped.reason]).toEqual([false, reason]);
  });

  test('is listed with the others, the last one that was stopped first', async () => {
    const stopped: string[] = [];
    for (let count = 0; count < 3; count += 1) {
      const { guid } = await aCarrier();
      await ask('POST', `subscriptions/${guid}/stop`, { reason });
      stopped.unshift(guid);
    }
    const { subscriptions } = (await ask('GET', 'stops')).body;
    const guids = subscriptions.map((each: { guid: string }) => each.guid);
    expect(guids.filter((guid: string) => stopped.includes(guid))).toEqual(stopped);
  });

  test('takes no test', async () => {
    const { guid, token } = await aCarrier();
    await ask('POST', `subscriptions/${guid}/stop`, { reason });
    const { status, body } = await api.ask('POST', `/v1/subscriptions/${guid}/test`, { token });
    expect([status, body.type, body.detail]).toEqual([
      409,
      'urn:waybell:problem:stopped',
      expect.stringContaining(reason),
    ]);
  });

  test.each([{}, { reason: '' }, { reason: 'a\nb' }, { reason: 'a'.repeat(201) }])('is not with %j', async (body) => {
    const { guid } = await aCarrier();
    expect((await ask('POST', `subscriptions/${guid}/stop`, body)).status).toBe(422);
  });

  test('is not where there is none', async () => {
    expect((await ask('POST', `subscriptions/${randomUUID()}/stop`, { reason })).status).toBe(404);
  });
});

describe('a host that an operator stops', () => {
  test('stops all that goes there, whatever port and account, and nothing else', async () => {
    const [one, other, elsewhere] = [
      await aCarrier('https://moved.test/a'),
      await aCarrier('https://MOVED.test:8443/b?c'),
      await aCarrier('https://notmoved.test/a'),
    ];
    const { status, body } = await ask('POST', 'hosts/Moved.test./stop', { reason });
    expect([status, body]).toEqual([200, { host: 'moved.test', at: expect.any(String), reason, subscriptions: 2 }]);
    expect((await ask('GET', 'stops')).body.hosts).toEqual([body]);
    for (const { see, guid } of [one, other])
      expect([(await see()).stopped, await held(guid)]).toEqual([{ at: body.at, reason }, 'stopped']);
    expect([await elsewhere.see(), await held(elsewhere.guid)]).toEqual([
      expect.not.objectContaining({ stopped: expect.anything() }),
      null,
    ]);
    // It is not stopped itself.
    expect((await ask('POST', `subscriptions/${one.guid}/start`)).status).toBe(409);

    expect((await ask('POST', 'hosts/moved.test/start')).status).toBe(204);
    expect(await one.see()).not.toHaveProperty('stopped');
    expect((await ask('POST', 'hosts/moved.test/start')).status).toBe(409);
    const ofHost = (await changes('limit=200')).filter(({ what }: { what: string }) => what.startsWith('host.'));
    expect(ofHost).toMatchObject([
      { what: 'host.started', account: null, subject_guid: null, details: { host: 'moved.test' } },
      { what: 'host.stopped', account: null, subject_guid: null, details: { host: 'moved.test', reason } },
    ]);
  });

  test.each(['a:80', 'a%2Fb', 'a%20b', 'user%40host'])('is not by the name %s', async (host) => {
    expect((await ask('POST', `hosts/${host}/stop`, { reason })).status).toBe(422);
  });
});

test('nobody but an operator stops anything', async () => {
  const { guid, token } = await aCarrier();
  for (const path of [`subscriptions/${guid}/stop`, 'hosts/hooks.test/stop']) {
    const answer = await api.admin.ask('POST', `/v1/admin/${path}`, { token, body: { reason } });
    expect(answer.status).toBe(403);
  }
});
