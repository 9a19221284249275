import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { actionsOf } from '@waybell/catalog/actions';
import { inTransaction } from '@waybell/runtime/postgres';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import type { Answer } from '../testing/ask.ts';
import { logDelivery } from '../testing/logged-delivery.ts';
import { createToken } from '../tokens.ts';

const path = '/v1/subscriptions';
const [one, other] = ['https://hooks.test/one', 'https://hooks.test/other'];
const DAY_MS = 86_400_000;

const api = shared(() => startApi());

/** Returns the row of a subscription. */
async function rowOf(guid: string) {
  const { rows } = await api.store.postgres.query('select * from waybell.subscriptions where guid = $1', [guid]);
  return rows[0];
}

/** Switches it off like the deactivator; its first failed delivery was this long before. */
async function switchOff(guid: string, failedFor = '1 hour'): Promise<void> {
  await api.store.postgres.query(
    `update waybell.subscriptions set is_active = false, deactivated_at = now(), deactivation_rule = 'exhausted',
       failing_since = date_trunc('milliseconds', now()) - $2::interval where guid = $1`,
    [guid, failedFor],
  );
}

type Shown = Record<string, unknown> & { guid: string; action: string };
type Put = { action: string; result: string; subscription?: Shown; problem?: Record<string, unknown> };

/** A client of one interface. */
async function aClient(interfaceName: 'shipper' | 'carrier', features: string[] = []) {
  const { guid: account, token } = await signUp(api, { interface: interfaceName, features });
  const dataOf = ({ body }: Answer) => (interfaceName === 'shipper' && body.status === 'success' ? body.data : body);
  const ask = async (method: string, at: string, body?: unknown, by = token) => {
    const answer = await api.ask(method, `${path}${at}`, { token: by, body });
    const data = dataOf(answer);
    return { status: answer.status, body: data.object ?? data };
  };
  const put = async (actions: string[], more = {}): Promise<Put[]> =>
    (await ask('PUT', '', { callback_url: one, actions, ...more })).body.objects;
  const first = async (action: string, more = {}): Promise<Shown> => {
    const [made] = await put([action], more);
    if (made?.subscription === undefined) throw new Error(`${action} was refused`);
    return made.subscription;
  };
  return { account, token, ask, put, first };
}

describe.each(['shipper', 'carrier'] as const)('a subscription of a %s', (interfaceName) => {
  test('is changed in place: guid, token and history stay, and earlier failures no longer count', async () => {
    const { ask, first } = await aClient(interfaceName);
    const { guid, verification_token } = await first('order.created');
    await api.store.postgres.query('update waybell.subscriptions set failing_since = now() where guid = $1', [guid]);
    const before = await rowOf(guid);
    const { status, body } = await ask('PATCH', `/${guid}`, { callback_url: other });
    expect(status).toBe(200);
    expect(body).toMatchObject({ guid, verification_token, callback_url: other, is_active: true });
    const after = await rowOf(guid);
    expect(after).toMatchObject({ generation: before.generation + 1, failing_since: null, missed_since: null });
    expect(after.created_at).toEqual(before.created_at);
    expect((await ask('GET', `/${guid}`)).body).toEqual(body);
  });

  test.each([{}, { callback_url: one }, { is_active: true }])('stays as it is with a change to %j', async (change) => {
    const { ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    const before = await rowOf(guid);
    expect((await ask('PATCH', `/${guid}`, change)).status).toBe(200);
    expect(await rowOf(guid)).toEqual(before);
  });

  test('that was switched off stays off with another URL, and is on again where that is asked', async () => {
    const { ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    const aDayOld = `update waybell.subscriptions set created_at = now() - interval '1 day' where guid = $1`;
    await api.store.postgres.query(aDayOld, [guid]);
    await switchOff(guid);
    const off = await rowOf(guid);
    const changed = await ask('PATCH', `/${guid}`, { callback_url: other });
    expect(changed.body).toMatchObject({ is_active: false, callback_url: other, deactivation: { rule: 'exhausted' } });
    expect(changed.body).not.toHaveProperty('missed');
    expect(await rowOf(guid)).toMatchObject({ failing_since: off.failing_since, generation: off.generation + 1 });

    const { body } = await ask('PATCH', `/${guid}`, { is_active: true });
    expect(body).toMatchObject({
      is_active: true,
      missed: {
        since: off.failing_since.toISOString(),
        until: expect.any(String),
        count: 0,
      },
    });
    expect(body).not.toHaveProperty('deactivation');
    // Off once more: what was missed before stays noted.
    await switchOff(guid);
    expect((await ask('PATCH', `/${guid}`, { is_active: true })).body.missed.since).toBe(body.missed.since);
  });

  test('has missed nothing once it is seen that nothing is missing, and for good', async () => {
    const { account, ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    await logDelivery(api.store.postgres, { account, interface: interfaceName, mark: 'x', subscription: guid });
    const none = await first('order.picked_up');
    for (const each of [guid, none.guid]) {
      await switchOff(each);
      await ask('PATCH', `/${each}`, { is_active: true });
    }
    const shown = async () =>
      (await ask('GET', '')).body.objects.map(({ action, missed }: Shown & { missed?: { count: number } }) => [
        action,
        missed?.count,
      ]);
    // The delivery log may not have it yet.
    expect(await shown()).toEqual([
      ['order.created', 1],
      ['order.picked_up', 0],
    ]);
    await api.store.postgres.query(
      `update waybell.subscriptions set missed_until = now() where guid = any ($1::uuid[])`,
      [[guid, none.guid]],
    );
    expect(await shown()).toEqual([
      ['order.created', 1],
      ['order.picked_up', undefined],
    ]);
    expect((await ask('GET', `/${none.guid}`)).body).not.toHaveProperty('missed');
    expect((await rowOf(none.guid)).missed_replayed_at).not.toBeNull();
    expect((await rowOf(guid)).missed_replayed_at).toBeNull();
  });

  test('is not switched off by a change, which says what there is instead', async () => {
    const { ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    for (const [method, at, more] of [
      ['PATCH', `/${guid}`, {}],
      ['PUT', '', { callback_url: one, actions: ['*'] }],
    ] as const) {
      const { status, body } = await ask(method, at, { is_active: false, ...more });
      expect([status, body.errors]).toEqual([
        422,
        [{ pointer: '#/is_active', detail: expect.stringMatching(/pause .* unsubscribe/) }],
      ]);
    }
  });

  test('that is ended, or of another client, is not there', async () => {
    const { account, ask, first, token } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    const stranger = await createToken(api.store.postgres, { accountGuid: account, clientId: 'other' });
    const end =
      interfaceName === 'shipper'
        ? ['POST', '/v1/public/webhooks/order.created/unsubscribe']
        : ['DELETE', '/v1/webhooks/order.created/subscriptions/'];
    const asks = [
      ['GET', ''],
      ['PATCH', '', { callback_url: other }],
      ['POST', '/pause', {}],
      ['POST', '/resume', {}],
    ] as const;
    for (const [method, at, body] of asks)
      expect((await ask(method, `/${guid}${at}`, body, stranger)).status).toBe(404);
    await api.ask(end[0] ?? '', end[1] ?? '', { token });
    for (const [method, at, body] of asks) expect((await ask(method, `/${guid}${at}`, body)).status).toBe(404);
    for (const [method, at, body] of asks) expect((await ask(method, `/${randomUUID()}${at}`, body)).status).toBe(404);
  });

  test('shows its token to who may write', async () => {
    const { account, ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    const reader = await createToken(api.store.postgres, { accountGuid: account, scopes: ['webhooks:read'] });
    expect((await ask('GET', `/${guid}`, undefined, reader)).body).not.toHaveProperty('verification_token');
    expect((await ask('PATCH', `/${guid}`, {}, reader)).status).toBe(403);
    expect((await ask('PUT', '', { callback_url: one, actions: ['*'] }, reader)).status).toBe(403);
  });

  test('is paused until then, as long as a delivery may wait at most, and resumed', async () => {
    const { ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    const end = new Date(wallClockMs() + 3_600_000).toISOString();
    const paused = await ask('POST', `/${guid}/pause`, { until: end });
    expect([paused.status, paused.body.paused_until, paused.body.is_active]).toEqual([200, end, true]);
    const longest = (await ask('POST', `/${guid}/pause`)).body.paused_until;
    expect(Date.parse(longest)).toBeGreaterThan(wallClockMs() + DAY_MS - 600_000);
    for (const wrong of ['2020-01-01T00:00:00Z', new Date(wallClockMs() + 2 * DAY_MS).toISOString()])
      expect((await ask('POST', `/${guid}/pause`, { until: wrong })).body.errors).toMatchObject([
        { pointer: '#/until' },
      ]);
    expect((await ask('GET', `/${guid}`)).body.paused_until).toBe(longest);
    const resumed = await ask('POST', `/${guid}/resume`);
    expect([resumed.status, resumed.body.paused_until]).toEqual([200, undefined]);
    await switchOff(guid);
    for (const verb of ['pause', 'resume']) expect((await ask('POST', `/${guid}/${verb}`)).status).toBe(409);
  });

  test('stays paused when it is put again', async () => {
    const { ask, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    await ask('POST', `/${guid}/pause`);
    expect(await first('order.created', { callback_url: other })).toMatchObject({
      guid,
      paused_until: expect.any(String),
    });
  });
});

describe.each(['shipper', 'carrier'] as const)('PUT of a %s', (interfaceName) => {
  test('makes, changes and leaves subscriptions, each with its token, and ends none', async () => {
    const { ask, put, first } = await aClient(interfaceName);
    const kept = await first(interfaceName === 'shipper' ? 'vehicle.created' : 'damage.created');
    const made = await put(['order.*']);
    expect(made.map(({ action }) => action)).toEqual(
      actionsOf(interfaceName)
        .map(({ name }) => name)
        .filter((name) => name.startsWith('order.'))
        .toSorted(),
    );
    for (const { subscription } of made) expect(subscription?.['verification_token']).toMatch(/^[\w-]{43}$/);
    expect(new Set(made.map(({ result }) => result))).toContain('created');
    expect((await put(['order.*'])).map(({ result }) => result)).toEqual(made.map(() => 'unchanged'));
    const changed = await put(['order.*'], { callback_url: other });
    expect(changed.map(({ result, subscription }) => [result, subscription?.guid])).toEqual(
      made.map(({ subscription }) => ['changed', subscription?.guid]),
    );
    expect((await ask('GET', `/${kept.guid}`)).status).toBe(200);
  });

  test('switches on what is off only where that is asked', async () => {
    const { put, first } = await aClient(interfaceName);
    const { guid } = await first('order.created');
    await switchOff(guid);
    expect(await put(['order.created'])).toMatchObject([{ result: 'unchanged', subscription: { is_active: false } }]);
    expect(await put(['order.created'], { is_active: true })).toMatchObject([
      { result: 'changed', subscription: { guid, is_active: true, missed: { since: expect.any(String) } } },
    ]);
    expect(await put(['order.created'], { is_active: true })).toMatchObject([{ result: 'unchanged' }]);
  });

  test('names the nearest of what it does not know, with all else that is wrong', async () => {
    const { ask } = await aClient(interfaceName);
    const { status, body } = await ask('PUT', '', {
      callback_url: 'https://inside.test/',
      actions: ['order.creatd', 'ordr.*', 'order.*'],
    });
    expect(status).toBe(422);
    expect(body.errors).toEqual([
      { pointer: '#/callback_url', detail: expect.any(String) },
      { pointer: '#/actions/0', detail: '"order.creatd" chooses no action; the nearest is order.created' },
      { pointer: '#/actions/1', detail: '"ordr.*" chooses no action; the nearest is order.*' },
    ]);
  });

  test('refuses fields that none of its actions takes', async () => {
    const { ask, put } = await aClient(interfaceName);
    const refused = await ask('PUT', '', {
      callback_url: one,
      actions: ['order.delivered'],
      audit_field_set: ['price'],
    });
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [{ pointer: '#/audit_field_set', detail: 'is taken by the five revision actions, not by these actions' }],
    ]);
    expect(await put(['order.delivered'], { audit_field_set: [] })).toMatchObject([{ action: 'order.delivered' }]);
  });

  test('at once with others, and with ends, makes one subscription of each action', async () => {
    const { account, ask, put, token } = await aClient(interfaceName);
    const end = (action: string) =>
      interfaceName === 'shipper'
        ? api.ask('POST', `/v1/public/webhooks/${action}/unsubscribe`, { token })
        : api.ask('DELETE', `/v1/webhooks/${action}/subscriptions/`, { token });
    const answers = await Promise.all([
      ...Array.from({ length: 6 }, (_, at) =>
        ask('PUT', '', { callback_url: at % 2 ? one : other, actions: [at % 3 ? '*' : 'order.*'] }),
      ),
      ...Array.from({ length: 6 }, () => end('order.created')),
    ]);
    expect(answers.slice(0, 6).map(({ status }) => status)).toEqual(Array.from({ length: 6 }, () => 200));
    const last = await put(['*']);
    const { rows } = await api.store.postgres.query(
      'select action from waybell.subscriptions where account_guid = $1 and ended_at is null order by action collate "C"',
      [account],
    );
    expect(rows.map(({ action }) => action)).toEqual(last.map(({ action }) => action));
  });
});

test('a PUT waits for what the deactivator notes, and does not hold what that needs next', async () => {
  const { put } = await aClient('carrier');
  const made = (await put(['order.*'])).flatMap(({ subscription }) => subscription ?? []);
  const byGuid = made.toSorted((some, next) => (some.guid < next.guid ? -1 : 1));
  const [first, ...others] = byGuid;
  const lock = 'select from waybell.subscriptions where guid = any ($1::uuid[]) order by guid for no key update';
  const waiting = `select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'`;
  let changing: Promise<Put[]> | undefined;
  await inTransaction(api.store.postgres, async (deactivator) => {
    await deactivator.query(lock, [[first?.guid]]);
    changing = put(['order.*'], { callback_url: other });
    await until('it waits', async () => (await api.store.postgres.query(waiting)).rows.length > 0);
    await deactivator.query(`${lock} nowait`, [others.map(({ guid }) => guid)]);
  });
  expect((await changing)?.map(({ result }) => result)).toEqual(made.map(() => 'changed'));
});

test('a feature that is off leaves an action out that a pattern matches, and refuses one that is named', async () => {
  const { put } = await aClient('shipper');
  expect((await put(['*'])).map(({ action }) => action)).not.toContain('insurance.issued');
  const named = await put(['insurance.issued', 'order.paid']);
  expect(named).toMatchObject([
    {
      action: 'insurance.issued',
      result: 'refused',
      problem: { type: 'urn:waybell:problem:feature-off', status: 409 },
    },
    { action: 'order.paid', result: 'unchanged' },
  ]);
  expect(named[0]).not.toHaveProperty('subscription');
});

test('fields are taken by the revision actions that have them', async () => {
  const { put, ask } = await aClient('shipper');
  const fieldsOf = (all: Put[]) =>
    Object.fromEntries(all.map(({ action, subscription }) => [action, subscription?.['audit_field_set']]));
  const some = ['order.created', 'order.paid', 'vehicle.created'];
  const of = async (audit_field_set?: unknown) => fieldsOf(await put(some, { audit_field_set }));
  const [created = '', paid = '', vehicle = ''] = some;
  expect(await of(['price'])).toEqual({ [created]: ['price'], [paid]: undefined, [vehicle]: undefined });
  expect(await of(['price', 'vehicles.vin'])).toEqual({
    [created]: ['price'],
    [paid]: undefined,
    [vehicle]: ['vehicles.vin'],
  });
  expect(await of([])).toEqual({ [created]: [], [paid]: undefined, [vehicle]: [] });
  expect(await of()).toEqual({ [created]: undefined, [paid]: undefined, [vehicle]: undefined });
  const wrong = await ask('PUT', '', { callback_url: one, actions: some, audit_field_set: ['prize'] });
  expect([wrong.status, wrong.body.errors]).toMatchObject([
    422,
    [{ pointer: '#/audit_field_set/0', detail: '"prize" is no field of these actions' }],
  ]);

  const [{ subscription } = {}] = await put([created], { audit_field_set: ['price'] });
  const at = `/${subscription?.guid}`;
  expect((await ask('PATCH', at, { callback_url: other })).body.audit_field_set).toEqual(['price']);
  expect((await ask('PATCH', at, { audit_field_set: ['number'] })).body.audit_field_set).toEqual(['number']);
  expect((await ask('PATCH', at, { audit_field_set: null })).body).not.toHaveProperty('audit_field_set');
  expect((await ask('PATCH', at, { audit_field_set: ['prize'] })).status).toBe(422);
});

test("a shipper's own way of subscribing ends a pause, and notes what was missed", async () => {
  const { ask, first, token } = await aClient('shipper');
  const { guid } = await first('order.created');
  await ask('POST', `/${guid}/pause`);
  await switchOff(guid);
  await api.ask('POST', '/v1/public/webhooks/order.created/subscribe', { token, body: { callback_url: one } });
  const { body } = await ask('GET', `/${guid}`);
  expect(body).toMatchObject({ is_active: true, missed: { since: expect.any(String) } });
  expect(body).not.toHaveProperty('paused_until');
});

test('a carrier that subscribes where it is switched off is told how to switch on', async () => {
  const { first, token } = await aClient('carrier');
  const { guid } = await first('order.created');
  await switchOff(guid);
  const again = await api.ask('POST', '/v1/webhooks/order.created/subscriptions/', {
    token,
    body: { callback_url: one },
  });
  expect([again.status, again.body.detail]).toEqual([409, expect.stringContaining(`PATCH /v1/subscriptions/${guid}`)]);
});
