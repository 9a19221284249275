import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { execPath } from 'node:process';
import { afterEach, describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import { freePort } from '@waybell/stack/ports';
import { repository } from '@waybell/stack/stack-folder';
import { createToken } from '@waybell/subscription-api/tokens';
import type { KeptSubscription } from '../../packages/receiver/kept-subscription.ts';
import { sendTo } from '../../packages/receiver/testing.ts';
import { KeptReceiver, type KeptReceiverOptions } from '../testing/kept-receiver.ts';
import type { Client } from '../testing/test-stack.ts';
import { settingsOf, stack } from './stand.ts';

type View = Pick<KeptSubscription, 'guid' | 'action' | 'callback_url' | 'is_active' | 'created_at' | 'missed'>;
type Interface = 'shipper' | 'carrier';

const ACTION = { shipper: 'order.picked_up', carrier: 'order.created' } as const;
const STRANGE = 'whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA';
const LONG_MS = 86_400_000;

const kept: KeptReceiver[] = [];
afterEach(async () => {
  for (const each of kept.splice(0)) await each[Symbol.asyncDispose]();
});

async function aKept(interfaceName: Interface, options: Partial<KeptReceiverOptions> = {}) {
  const client = await stack.client(interfaceName);
  const { token } = client;
  const api = stack.stack.addresses['API_URL'];
  const own = new KeptReceiver({ interfaceName, api, token, actions: ACTION[interfaceName], ...options });
  kept.push(own);
  return { client, own };
}

async function subscriptionsOf(client: Client): Promise<View[]> {
  const { body } = await client.call('GET', '/v1/subscriptions');
  // The shapes are the contract's.
  const list = body as { data?: { objects: View[] }; objects?: View[] };
  return list.data?.objects ?? list.objects ?? [];
}

async function onlyOf(client: Client): Promise<View> {
  const [only, ...others] = await subscriptionsOf(client);
  if (only === undefined || others.length > 0) throw new Error(`${others.length + 1} subscriptions`);
  return only;
}

/** Publishes an event; resolves with the `webhook-id` that it has at the client's subscription. */
async function hear(client: Client, action: string = ACTION.carrier): Promise<string> {
  const { guid } = (await subscriptionsOf(client)).find((each) => each.action === action) ?? { guid: '' };
  return messageGuid((await client.hear(action)).guid, guid);
}

const untilHandled = (own: KeptReceiver, id: string) => until(`${id} is handled`, () => own.handled.includes(id));
const untilOff = (client: Client) => until('it is off', async () => !(await onlyOf(client)).is_active);
const untilOn = (client: Client) => until('it is on', async () => (await onlyOf(client)).is_active);
const kinds = ({ changes }: KeptReceiver) => changes.map(({ kind }) => kind);

/** Has it off, and resolves with the ids of what it missed, once the delivery log has them. */
async function missWhileOff(client: Client): Promise<string[]> {
  const failed = await hear(client);
  await untilOff(client);
  const missed = [failed, await hear(client)];
  const { guid, created_at: since } = await onlyOf(client);
  await until('the log has both', async () => {
    const dryRun = { subscription_guid: guid, since, include_suppressed: true, dry_run: true };
    const { body } = await client.call('POST', '/v1/replays', dryRun);
    // On the carrier interface it is not wrapped.
    return (body as { total: number }).total >= missed.length;
  });
  return missed;
}

describe.each(['shipper', 'carrier'] as const)('a receiver of the %s interface that is kept subscribed', (name) => {
  test('is subscribed to what it wants and no more, and handles it, without a secret or a token of its own', async () => {
    const { client, own } = await aKept(name, { actions: ['order.p*', 'order.deliver*'] });
    await own.start();
    const subscribed = (await subscriptionsOf(client)).map(({ action }) => action);
    expect(subscribed).toContain('order.picked_up');
    expect(subscribed.filter((action) => !/^order\.(p|deliver)/.test(action))).toEqual([]);
    expect(own.changes.map(({ action }) => action).toSorted()).toEqual(subscribed.toSorted());
    await untilHandled(own, await hear(client, 'order.delivered'));
    await untilHandled(own, await hear(client, 'order.picked_up'));
    expect(own.troubles).toEqual([]);
    expect(own.kept[0]?.state()).toMatchObject({ lookedAt: expect.any(Date), troubles: [] });
    expect(JSON.stringify(own.kept[0]?.state())).not.toContain('token');
  });

  test('changes nothing when it starts again, and follows when it moves', async () => {
    const { client, own } = await aKept(name);
    await own.start();
    const { guid } = await onlyOf(client);
    await own.stop();
    await own.start();
    expect(kinds(own)).toEqual(['subscribed']);
    const { own: moved } = await aKept(name, { token: client.token });
    await moved.start();
    expect([kinds(moved), await onlyOf(client)]).toMatchObject([['changed'], { guid, callback_url: moved.url }]);
    await untilHandled(moved, await hear(client, ACTION[name]));
  });

  test('changes back what something else changed, and says so', async () => {
    const { client, own } = await aKept(name, { keeps: { everyMs: 50 } });
    await own.start();
    const { guid } = await onlyOf(client);
    await client.call('PATCH', `/v1/subscriptions/${guid}`, { callback_url: `${own.url}/other` });
    await until('it is told', () => own.troubles.length > 0);
    expect(own.troubles).toMatchObject([{ reason: 'changed_elsewhere', action: ACTION[name] }]);
    expect([kinds(own), await onlyOf(client)]).toMatchObject([['subscribed', 'changed'], { callback_url: own.url }]);
    await until('it is over', () => own.kept[0]?.state().troubles.length === 0);
  });

  test('goes on when its secret is made again and the one before ends at once', async () => {
    const { client, own } = await aKept(name);
    await own.start();
    await untilHandled(own, await hear(client, ACTION[name]));
    await client.call('POST', '/v1/signing-secrets/rotate', { force: true });
    const id = await hear(client, ACTION[name]);
    await untilHandled(own, id);
    expect(own.refusals).toEqual([]);
  });
});

describe('a kept receiver that checks tokens', () => {
  test('goes on when it is subscribed again, with a token that it does not know yet', async () => {
    const { client, own } = await aKept('carrier', { checks: { tokens: () => undefined } });
    await own.start();
    await untilHandled(own, await hear(client));
    await client.unsubscribe(ACTION.carrier);
    await client.subscribe(ACTION.carrier, own.url);
    await untilHandled(own, await hear(client));
    expect([own.refusals, own.answers.map(({ attempt }) => attempt)]).toEqual([[], ['1', '1']]);
  });
});

describe('a kept receiver', () => {
  test('that is restarted three times, each so slowly that it is switched off, misses nothing, and handles each once', async () => {
    const { client, own } = await aKept('carrier');
    const ids: string[] = [];
    await own.start();
    for (let restart = 1; restart <= 3; restart += 1) {
      // Its last notification is not answered, and comes again.
      own.handle = () => void own.stop();
      ids.push(await hear(client));
      await until('it is down', () => own.kept.length === 0);
      await own.stop();
      own.handle = () => undefined;
      ids.push(...(await missWhileOff(client)));
      await own.start();
      await untilOn(client);
      ids.push(await hear(client));
    }
    await until('all are handled', () => ids.every((id) => own.handled.includes(id)));
    expect(own.handled.toSorted()).toEqual(ids.toSorted());
    expect(own.answers.map(({ body }) => body)).toContain('{"status":"repeated"}');
  });

  test('in three replicas is switched on and sent what it missed once', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    await own.stop();
    // The one that was down is subscribed.
    const missed = await missWhileOff(client);
    own.changes.length = 0;
    await own.start({ replicas: 3 });
    for (const id of missed) await untilHandled(own, id);
    expect(own.handled.toSorted()).toEqual(missed.toSorted());
    const replays = await client.call('GET', '/v1/replays');
    expect(replays.body).toMatchObject({ objects: [{ total: missed.length }] });
    expect(kinds(own).filter((kind) => kind === 'replayed')).toHaveLength(1);
    expect(own.troubles.filter(({ reason }) => reason !== 'switched_off')).toEqual([]);
  });

  test('in three replicas that see at once what was missed has it sent once, and is content', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    await own.stop();
    const missed = await missWhileOff(client);
    const { guid } = await onlyOf(client);
    await client.call('PATCH', `/v1/subscriptions/${guid}`, { is_active: true });
    await own.start({ replicas: 3 });
    for (const id of missed) await untilHandled(own, id);
    expect([kinds(own), own.troubles]).toEqual([['subscribed', 'replayed'], []]);
    expect(own.handled.toSorted()).toEqual(missed.toSorted());
  });

  test('stays off while it does not answer tests, which come ever more seldom, and is on when it does', async () => {
    const { client, own } = await aKept('carrier', { times: { firstPauseMs: 50 } });
    await own.start();
    await own.stop();
    const missed = await missWhileOff(client);
    own.onTest = () => {
      throw new Error('not yet');
    };
    await own.start();
    await until('it was tested three times', () => own.answers.filter(({ isTest }) => isTest).length > 2);
    expect(await onlyOf(client)).toMatchObject({ is_active: false });
    expect(own.troubles.filter(({ reason }) => reason === 'test_failed')).toHaveLength(1);
    own.onTest = () => undefined;
    await untilOn(client);
    for (const id of missed) await untilHandled(own, id);
    expect(own.kept[0]?.state().troubles).toEqual([]);
  });

  test('that answers tests alone is not switched on again and again', async () => {
    const { client, own } = await aKept('carrier', {
      keeps: { everyMs: 100 },
      times: { firstPauseMs: LONG_MS, longestPauseMs: 2 * LONG_MS },
    });
    await own.start();
    own.handle = () => {
      throw new Error('it handles nothing');
    };
    await hear(client);
    await until('it was switched on', () => kinds(own).includes('switched_on'));
    await hear(client);
    await untilOff(client);
    const looks = new Set<number>();
    await until('it has looked ten times', () => {
      const { lookedAt, subscriptions } = own.kept[0]?.state() ?? {};
      if (subscriptions?.[0]?.is_active === false) looks.add(Number(lookedAt));
      return looks.size > 10;
    });
    expect([kinds(own).filter((kind) => kind === 'switched_on'), await onlyOf(client)]).toMatchObject([
      ['switched_on'],
      { is_active: false },
    ]);
  });

  test('says that it is paused, and leaves it so', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    const { guid } = await onlyOf(client);
    expect(await client.call('POST', `/v1/subscriptions/${guid}/pause`, {})).toMatchObject({ status: 200 });
    await own.stop();
    await own.start();
    expect([own.troubles, await onlyOf(client)]).toMatchObject([
      [{ reason: 'paused', action: ACTION.carrier }],
      { paused_until: expect.any(String) },
    ]);
  });

  test('goes on receiving without the right to change anything, and says so once', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    const [secret] = await client.signingSecrets();
    await own.stop();
    const { account: accountGuid } = client;
    const scopes = ['webhooks:read'] as const;
    const token = await createToken(stack.postgres, { accountGuid, clientId: 'default', scopes });
    const reading = await aKept('carrier', { token, checks: { secrets: secret }, keeps: { everyMs: 50 } });
    await reading.own.start();
    const { guid } = await onlyOf(client);
    await client.call('PATCH', `/v1/subscriptions/${guid}`, { callback_url: reading.own.url });
    await untilHandled(reading.own, await hear(client));
    expect(reading.own.troubles).toMatchObject([{ reason: 'no_rights', detail: expect.stringContaining('403') }]);
  });

  test('goes on receiving while the API is away, says so once, and looks again by itself', async () => {
    const { client, own } = await aKept('carrier', { keeps: { everyMs: 50 } });
    await own.start();
    const { guid } = await onlyOf(client);
    const state = () => own.kept[0]?.state();
    const api = stack.stack.service('subscription-api');
    await api.stop();
    try {
      await until('it has seen that', () => state()?.troubles.length === 1);
      const { guid: event } = await client.hear(ACTION.carrier);
      await untilHandled(own, messageGuid(event, guid));
    } finally {
      await api.start();
    }
    const lookedAt = state()?.lookedAt;
    await until('it has looked again', () => state()?.lookedAt !== lookedAt);
    // First its address does not answer, and as it starts it may say that a server behind it does not.
    expect(own.troubles.map(({ reason }) => reason)).toContain('unreachable');
    expect(own.troubles.length).toBeLessThan(4);
    expect(state()?.troubles).toEqual([]);
  });

  test.each([
    [
      'a name that there is not',
      { actions: 'order.creatd' },
      /^422: \S+ "order\.creatd" chooses no action; the nearest is order\.created$/,
    ],
    ['a URL that is not taken', { keeps: { callbackUrl: 'ftp://receiver.example.com' } }, /422/],
  ])('says what is wrong with %s', async (_what, options, detail) => {
    const { own } = await aKept('carrier', options);
    await own.start();
    expect(own.troubles).toMatchObject([{ reason: 'not_taken', detail: expect.stringMatching(detail) }]);
  });
});

describe('the receiver that the README begins with', () => {
  test('is subscribed and handles what happens, once it is started', async () => {
    const client = await stack.client('carrier');
    const text = await readFile(join(repository, 'packages/receiver/README.md'), 'utf8');
    const port = await freePort({ taken: new Set() });
    const [, snippet = ''] = /```ts\n(.*?)```/s.exec(text) ?? [];
    const program = snippet
      .replace(`'@waybell/receiver'`, `'${join(repository, 'packages/receiver/index.ts')}'`)
      .replace('8080', `${port}, '127.0.0.1'`)
      .replace('https://receiver.example.com', `http://127.0.0.1:${port}`);
    const env = { WAYBELL_API: stack.stack.addresses['API_URL'], WAYBELL_TOKEN: client.token };
    const process = spawn(execPath, ['--input-type=module-typescript', '--eval', program], { env });
    const exited = once(process, 'exit');
    try {
      let printed = '';
      for (const stream of [process.stdout, process.stderr])
        stream.on('data', (chunk: Buffer) => (printed += chunk.toString()));
      await until('it is subscribed', async () => (await subscriptionsOf(client)).length > 0);
      const id = await hear(client);
      await until(`it prints ${id}`, () => printed !== '' && printed === `order.created ${id}\n`);
    } finally {
      process.kill();
      await exited;
    }
  });
});

describe('a receiver that is not kept subscribed', () => {
  test('can read what is off, since when, and what was missed once it is on again', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    await own.stop();
    await missWhileOff(client);
    await own.start({ isKept: false });
    expect(await onlyOf(client)).toMatchObject({ deactivation: { at: expect.any(String), rule: 'exhausted' } });
    const { guid } = await onlyOf(client);
    await client.call('PATCH', `/v1/subscriptions/${guid}`, { is_active: true });
    expect(await onlyOf(client)).toMatchObject({ missed: { since: expect.any(String), until: expect.any(String) } });
  });
});

describe('a kept receiver of a client that has asked too much', () => {
  settingsOf('subscription-api', () => ({ REQUESTS_PER_MINUTE: '3' }));

  test('says so once, and leaves the API alone for as long as that says', async () => {
    const { client, own } = await aKept('carrier');
    await own.start();
    const { own: next } = await aKept('carrier', { token: client.token, keeps: { everyMs: 10 } });
    await next.start();
    // Has it ask whether there is a newer secret.
    for (let request = 0; request < 20; request += 1)
      expect((await sendTo(next.url, { interface: 'carrier', action: 'order.created', secret: STRANGE })).status).toBe(
        401,
      );
    expect(next.troubles).toMatchObject([{ reason: 'too_many_requests' }]);
    const metrics = await fetch(`${stack.stack.service('subscription-api').spec.health}/metrics`);
    const refused = (await metrics.text()).match(/^waybell_http_request_duration_seconds_count{.*status="429".*/gm);
    expect(refused).toEqual([expect.stringMatching(/ 1$/)]);
  });
});
