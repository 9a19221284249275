import { randomUUID } from 'node:crypto';
import { describe, expect, jest, test } from '@jest/globals';
import type { Action } from '@waybell/catalog/action';
import { findAction } from '@waybell/catalog/actions';
import { deactivationsIn } from '@waybell/deactivator/deactivations';
import { endGoneIn, noteEndsIn } from '@waybell/deactivator/deactivate';
import { startSweep, switchOffIn } from '@waybell/deactivator/switch-off';
import { findTargetsIn, recentlyWellIn, type DeliveryTarget, type KnownTarget } from '@waybell/deliverer/find-target';
import { isNoResult } from '@waybell/line/messages';
import type { Deactivated, DeliveryEnd } from '@waybell/line/outcomes';
import { readOutcomes } from '@waybell/line/outcome-batch';
import { findSubscriptionsIn, type ActiveSubscription } from '@waybell/event-router/route-event';
import { writeCredentials, type ReceiverCredentials } from '@waybell/notifications/receiver-credentials';
import { createMetrics } from '@waybell/runtime/metrics';
import { BY_KEY, connectPostgres, type Postgres } from '@waybell/runtime/postgres';
import { readKeyRing, type KeyRing } from '@waybell/runtime/secrets';
import { Unavailable } from '@waybell/runtime/unavailable';
import { createAccount } from '@waybell/subscription-api/accounts';
import { rotateSecrets } from '@waybell/subscription-api/sealed-rows';
import { createTestDatabase } from '@waybell/runtime/testing/database';
import { shared } from '@waybell/runtime/testing/shared';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { MemorySubscriptions } from './memory-subscriptions.ts';
import { subscribe } from '@waybell/runtime/testing/subscribe';
import { PATIENT_MS, silentLog } from '@waybell/runtime/testing/patience';

const keyRing = readKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')}`);
const DAY_MS = 86_400_000;
const RULES = {
  offOnExhausted: ['carrier' as const],
  offOnWindow: ['carrier' as const],
  windowMs: DAY_MS,
  surge: { many: 0, few: 0 },
};

const store = shared(() => createTestDatabase());
const as = (role: string) =>
  connectPostgres({ url: store.url, role, poolSize: 2, timeoutMs: PATIENT_MS, log: silentLog });
const router = shared(() => as('waybell_router'));
const deliverer = shared(() => as('waybell_deliverer'));
const deactivator = shared(() => as('waybell_deactivator'));

type Given = {
  interface?: 'carrier' | 'shipper';
  action?: string;
  account?: string;
  client?: string;
  auditFieldSet?: string[];
  keyId?: string;
};

async function anAccount(interfaceName: 'carrier' | 'shipper', features: string[] = []): Promise<string> {
  return (await createAccount(store.postgres, { interface: interfaceName, features })).guid;
}

async function aSubscription({ auditFieldSet, keyId, ...given }: Given = {}): Promise<string> {
  const guid = randomUUID();
  const account = given.account ?? (await anAccount(given.interface ?? 'carrier'));
  const token = keyRing.seal(`token of ${guid}`, guid);
  if (keyId !== undefined) token.keyId = keyId;
  const callbackUrl = `https://a.test/${guid}`;
  await subscribe(store.postgres, { ...given, guid, account, generation: 3, callbackUrl, token });
  if (auditFieldSet !== undefined)
    await store.postgres.query('update waybell.subscriptions set audit_field_set = $2 where guid = $1', [
      guid,
      auditFieldSet,
    ]);
  return guid;
}

const change = (guid: string, what: string) =>
  store.postgres.query(`update waybell.subscriptions set ${what} where guid = $1`, [guid]);

function anEnd(subscription: string, what: Partial<DeliveryEnd> = {}): DeliveryEnd {
  return { delivery: randomUUID(), subscription, generation: 3, isDelivered: false, at: wallClockMs(), ...what };
}

function actionOf(interfaceName: string, name: string) {
  const action = findAction(interfaceName, name);
  if (action === undefined) throw new Error(`there is no ${name}`);
  return action;
}

test('recentlyWellIn finds each origin of those that answered within the hour, however many share one', async () => {
  const account = await anAccount('carrier');
  const well = (url: string) => `callback_url = '${url}', last_success_at = now()`;
  for (let client = 0; client < 70; client += 1)
    await change(await aSubscription({ account, client: `${client}` }), well(`https://shared.test/${client}?a=/b`));
  await change(await aSubscription(), well('https://well.test:8443?x'));
  await change(await aSubscription(), `${well('https://off.test/')}, is_active = false`);
  await change(
    await aSubscription(),
    `callback_url = 'https://long-ago.test/', last_success_at = now() - interval '2 hours'`,
  );
  const origins = (await recentlyWellIn(deliverer)()).filter((origin) => !origin.includes('//a.test'));
  expect(origins.toSorted()).toEqual(['https://shared.test', 'https://well.test:8443']);
});

describe('findSubscriptions', () => {
  const created = actionOf('carrier', 'order.created');
  const find = async (action: Action, account: string) =>
    (await findSubscriptionsIn(router)([{ action, receivers: [account] }]))[0]?.[0];

  test('finds one subscription for each client of the account, and of no other', async () => {
    const account = await anAccount('carrier');
    const guids = [await aSubscription({ account }), await aSubscription({ account, client: 'second' })];
    await aSubscription();
    await aSubscription({ account, action: 'order.delivered' });
    const found = (await find(created, account)) ?? [];
    expect(found.map(({ guid }) => guid).toSorted()).toEqual(guids.toSorted());
    expect(found.map(({ client }) => client).toSorted()).toEqual(['default', 'second']);
    expect(found[0]).toMatchObject({ generation: 3, auditFieldSet: null, isFeatureOn: true });
  });

  test('does not find what is off or ended', async () => {
    const account = await anAccount('carrier');
    await change(await aSubscription({ account }), 'is_active = false');
    await change(await aSubscription({ account, client: 'second' }), 'ended_at = now(), is_active = false');
    expect(await find(created, account)).toEqual([]);
  });

  test.each([
    [[], false],
    [['insurance'], true],
  ])('says of an account with the features %p whether the one of the action is on: %p', async (features, isOn) => {
    const account = await anAccount('shipper', features);
    await aSubscription({ interface: 'shipper', action: 'insurance.issued', account });
    const [found] = (await find(actionOf('shipper', 'insurance.issued'), account)) ?? [];
    expect(found?.isFeatureOn).toBe(isOn);
  });

  test.each([[['vehicles.vin', 'pickup.city']], [[]]])('tells the audit field set %p', async (auditFieldSet) => {
    const account = await anAccount('shipper');
    await aSubscription({ interface: 'shipper', action: 'order.modified', account, auditFieldSet });
    const [found] = (await find(actionOf('shipper', 'order.modified'), account)) ?? [];
    expect(found?.auditFieldSet).toEqual(auditFieldSet);
  });

  test('tells an account without a subscription from one that is not known', async () => {
    expect(await find(created, await anAccount('carrier'))).toEqual([]);
    expect(await find(created, randomUUID())).toBeUndefined();
  });

  test('answers for each event and each of its receivers, asking once for those that are equal', async () => {
    const accounts = await Promise.all(Array.from({ length: 5 }, () => anAccount('carrier')));
    const [one = '', other = ''] = accounts;
    const guids = await Promise.all(accounts.map((account) => aSubscription({ account })));
    const delivered = actionOf('carrier', 'order.delivered');
    const guid = await aSubscription({ account: one, action: 'order.delivered' });
    const query = jest.spyOn(router, 'query');
    const found = await findSubscriptionsIn(router)([
      { action: created, receivers: accounts },
      { action: created, receivers: [other, randomUUID(), one] },
      { action: delivered, receivers: [one, other] },
      { action: created, receivers: [other, one] },
      { action: delivered, receivers: [] },
    ]);
    const guidsOf = found.map((each) => each.map((subscriptions) => subscriptions?.map((some) => some.guid)));
    const [ofOne, ofOther] = [[guids[0]], [guids[1]]];
    expect(guidsOf).toEqual([
      guids.map((each) => [each]),
      [ofOther, undefined, ofOne],
      [[guid], []],
      [ofOther, ofOne],
      [],
    ]);
    expect(query).toHaveBeenCalledTimes(1);
    // Once for each of its actions.
    expect(JSON.stringify(query.mock.calls).split(other)).toHaveLength(3);
    query.mockRestore();
  });

  test('says Unavailable where Postgres is away', async () => {
    const options = { url: 'postgres://127.0.0.1:1/none', role: '', poolSize: 1, timeoutMs: 500, log: silentLog };
    await using away = connectPostgres(options);
    const asked = findSubscriptionsIn(away)([{ action: created, receivers: [randomUUID()] }]);
    await expect(asked).rejects.toBeInstanceOf(Unavailable);
  });
});

/** Plans of the statements that this connection keeps, and how often each was planned for its values. */
async function plansOf(postgres: Postgres): Promise<{ planned: number; plan: string }[]> {
  const { rows } = await postgres.query<{ name: string; planned: number }>(
    `select name, custom_plans::int as planned from pg_prepared_statements where name ~ 'targets' order by name`,
  );
  return Promise.all(
    rows.map(async ({ name, planned }) => {
      const types = name === 'subscription-targets' ? "'{}', '{}', '{}'" : "'{}'";
      const explained = await postgres.query<{ 'QUERY PLAN': string }>(`explain execute "${name}"(${types})`);
      return { planned, plan: explained.rows.map((row) => row['QUERY PLAN']).join('\n') };
    }),
  );
}

describe('look-ups by key', () => {
  test('are planned once for a connection, for indexes even where statistics know of no row', async () => {
    const options = { url: store.url, poolSize: 1, timeoutMs: 60_000, log: silentLog, settings: BY_KEY };
    await using routing = connectPostgres({ ...options, role: 'waybell_router' });
    await using delivering = connectPostgres({ ...options, role: 'waybell_deliverer' });
    for (let time = 0; time < 10; time += 1) {
      await findSubscriptionsIn(routing)([{ action: actionOf('carrier', 'order.created'), receivers: [randomUUID()] }]);
      await findTargetsIn(delivering, keyRing)([randomUUID()]);
    }
    const plans = [...(await plansOf(routing)), ...(await plansOf(delivering))];
    expect(plans.map(({ planned }) => planned)).toEqual([0, 0]);
    for (const { plan } of plans) {
      expect(plan).toMatch(/Index (Only )?Scan/);
      expect(plan).not.toMatch(/Seq Scan|Hash|Merge|Bitmap/);
    }
  });
});

/** Finds one target; throws where its secrets cannot be opened. */
async function targetOf(ring: KeyRing, guid: string): Promise<DeliveryTarget | undefined> {
  const [found] = await findTargetsIn(deliverer, ring)([guid]);
  if (isNoResult(found)) throw found.error;
  return found;
}

describe('findTargets', () => {
  test('finds where to send, with the opened token', async () => {
    const account = await anAccount('carrier');
    const guid = await aSubscription({ account });
    expect(await targetOf(keyRing, guid)).toEqual({
      state: 'active',
      isFeatureOn: true,
      reportsSuccess: true,
      account,
      callbackUrl: `https://a.test/${guid}`,
      verificationToken: `token of ${guid}`,
      signingSecrets: [],
    });
  });

  test.each([
    ['is_active = false', 'deactivated'],
    ['is_active = false, ended_at = now()', 'ended'],
  ])('says of one with %s that it is %s', async (what, state) => {
    const guid = await aSubscription();
    await change(guid, what);
    expect(await targetOf(keyRing, guid)).toMatchObject({ state });
  });

  test.each([
    ['last_success_at = null', true],
    [`last_success_at = now() - interval '59 minutes'`, false],
    [`last_success_at = now() - interval '61 minutes'`, true],
    ['last_success_at = now(), failing_since = now()', true],
  ])('says of one with %s whether a success is to be told: %p', async (what, reportsSuccess) => {
    const guid = await aSubscription();
    await change(guid, what);
    expect(await targetOf(keyRing, guid)).toMatchObject({ reportsSuccess });
  });

  test.each([
    [`paused_until = '2099-01-01T00:00Z'`, { why: 'paused', until: Date.UTC(2099, 0) }],
    ['paused_until = now()', undefined],
    [`paused_until = now() + interval '1 hour', is_active = false`, undefined],
    [`paused_until = now() + interval '1 hour', stopped_at = now(), stopped_reason = 'r'`, { why: 'stopped' }],
    [`stopped_at = now(), stopped_reason = 'r', is_active = false`, { why: 'stopped' }],
    [`stopped_at = now(), stopped_reason = 'r', is_active = false, ended_at = now()`, undefined],
    [`callback_url = 'HTTPS://Stopped.test:8443/hook?x'`, { why: 'stopped' }],
    [`callback_url = 'https://not.stopped.test/hook'`, undefined],
  ])('says of one with %s what holds it', async (what, held) => {
    await store.postgres.query(
      `insert into waybell.stopped_hosts (host, reason) values ('stopped.test', 'r') on conflict do nothing`,
    );
    const guid = await aSubscription();
    await change(guid, what);
    expect((await targetOf(keyRing, guid))?.held).toEqual(held);
  });

  test('says of one that ended for an answer of 410 that it is gone', async () => {
    const guid = await aSubscription();
    await change(guid, `is_active = false, ended_at = now(), ended_reason = 'gone'`);
    expect(await targetOf(keyRing, guid)).toMatchObject({ state: 'ended', isGone: true });
  });

  test('says of one that ended with its account that it is closed', async () => {
    const guid = await aSubscription();
    await change(guid, `is_active = false, ended_at = now(), ended_reason = 'closed'`);
    expect(await targetOf(keyRing, guid)).toMatchObject({ state: 'ended', isClosed: true });
  });

  test('finds nothing where there never was a subscription', async () => {
    expect(await targetOf(keyRing, randomUUID())).toBeUndefined();
  });

  test('finds the valid signing secrets of its client, the newest first', async () => {
    const account = await anAccount('carrier');
    const subscription = await aSubscription({ account });
    const known: [secret: string, client: string, age: string, expiresIn: string | null][] = [
      ['whsec_before', 'default', '2 hours', '1 hour'],
      ['whsec_now', 'default', '1 hour', null],
      ['whsec_expired', 'default', '3 hours', '-1 minute'],
      ['whsec_of_another', 'another', '1 hour', null],
    ];
    for (const [secret, client, age, expiresIn] of known) {
      const guid = randomUUID();
      const { sealed, keyId } = keyRing.seal(secret, guid);
      await store.postgres.query(
        `insert into waybell.signing_secrets (guid, account_guid, client_id, sealed, key_id, created_at, expires_at)
         values ($1, $2, $3, $4, $5, now() - $6::interval, now() + $7::interval)`,
        [guid, account, client, sealed, keyId, age, expiresIn],
      );
    }
    const found = await targetOf(keyRing, subscription);
    expect(found?.signingSecrets).toEqual(['whsec_now', 'whsec_before']);
  });

  test('finds what its client authenticates with at its host and port, and what takes its place', async () => {
    const account = await anAccount('carrier');
    const [here, elsewhere] = [
      await aSubscription({ account }),
      await aSubscription({ account, action: 'order.delivered' }),
    ];
    const ofAnother = await aSubscription({ account, client: 'another' });
    await change(here, `callback_url = 'https://gate.test:8443/hook?a=b'`);
    await change(elsewhere, `callback_url = 'https://gate.test/hook'`);
    await change(ofAnother, `callback_url = 'https://gate.test:8443/hook?a=b'`);
    const newer = readKeyRing(
      `k2:${Buffer.alloc(32, 2).toString('base64')},k1:${Buffer.alloc(32, 1).toString('base64')}`,
    );
    const put = async (host: string, credentials: ReceiverCredentials, ring = keyRing) => {
      const guid = randomUUID();
      const { sealed, keyId } = ring.seal(writeCredentials(credentials), guid);
      await store.postgres.query(
        `insert into waybell.credentials (guid, account_guid, client_id, host, kinds, shown, sealed, key_id)
         values ($1, $2, 'default', $5, '{}', '{}', $3, $4)
         on conflict (account_guid, client_id, host) do update set (guid, sealed, key_id) = ($1, $3, $4)`,
        [guid, account, sealed, keyId, host],
      );
    };
    const find = findTargetsIn(deliverer, newer);
    const found = async () =>
      (await find([here, elsewhere, ofAnother])).map((target) =>
        isNoResult(target) ? target : target?.credentials?.headers,
      );
    expect(await found()).toEqual([undefined, undefined, undefined]);
    await put('gate.test:8443', { headers: { 'X-Key': 'one' } });
    expect(await found()).toEqual([{ 'X-Key': 'one' }, undefined, undefined]);
    await put('gate.test', { headers: { 'X-Key': 'other' } }, newer);
    expect(await found()).toEqual([{ 'X-Key': 'one' }, { 'X-Key': 'other' }, undefined]);
    await put('gate.test:8443', { basic: { username: 'us', password: 'pässword' } });
    const pair = Buffer.from('us:pässword').toString('base64');
    expect(await found()).toEqual([{ Authorization: `Basic ${pair}` }, { 'X-Key': 'other' }, undefined]);
  });

  test('names the key that the token of one needs, and holds up no other asked for with it', async () => {
    const [locked, open] = [await aSubscription({ keyId: 'gone' }), await aSubscription()];
    const [first, second] = await findTargetsIn(deliverer, keyRing)([locked, open]);
    expect(first).toMatchObject({ missingKey: 'gone', verificationToken: '', signingSecrets: [] });
    expect(second).toMatchObject({ verificationToken: `token of ${open}` });
    expect(second).not.toHaveProperty('missingKey');
  });

  test('answers at the place of each, however often it is asked for, with an error where a secret cannot be opened', async () => {
    const [broken, open] = [await aSubscription(), await aSubscription()];
    await change(broken, `verification_token_sealed = '\\x${'00'.repeat(40)}'`);
    const found = await findTargetsIn(deliverer, keyRing)([open, broken, randomUUID(), open]);
    const isOpen: unknown = expect.objectContaining({ verificationToken: `token of ${open}` });
    expect(found).toEqual([isOpen, { kind: 'failed', error: expect.any(Error) }, undefined, isOpen]);
  });

  test('finds the same secrets before, while and after they are put under another key', async () => {
    const newer = `k2:${Buffer.alloc(32, 2).toString('base64')}`;
    const keys = readKeyRing(`k1:${Buffer.alloc(32, 1).toString('base64')},${newer}`);
    const guids = await Promise.all(Array.from({ length: 20 }, () => aSubscription()));
    const find = findTargetsIn(deliverer, keys);
    const tokens = async () =>
      (await find(guids)).map((target) => (isNoResult(target) ? target : target?.verificationToken));
    const expected = guids.map((guid) => `token of ${guid}`);
    expect(await tokens()).toEqual(expected);
    let isOver = false;
    const looking = (async () => {
      while (!isOver) expect(await tokens()).toEqual(expected);
    })();
    const ring = readKeyRing(`${newer},k1:${Buffer.alloc(32, 1).toString('base64')}`);
    const { rotated } = await rotateSecrets(store.postgres, { keyRing: ring, batchSize: 1 });
    isOver = true;
    await looking;
    expect(rotated).toBeGreaterThanOrEqual(guids.length);
    expect(await tokens()).toEqual(expected);
    expect((await targetOf(readKeyRing(newer), guids[0] ?? ''))?.verificationToken).toBe(expected[0]);
  });
});

/** How many went off, all of a sudden allowed. */
async function switchedOffBy(...ends: DeliveryEnd[]): Promise<number> {
  await noteEndsIn(deactivator, RULES)(ends);
  return (await switchOffIn(deactivator, RULES)()).off;
}

describe('noteEnds', () => {
  test('switches off what exhausted its attempts, once, and says so', async () => {
    const guid = await aSubscription();
    const end = anEnd(guid);
    expect(await switchedOffBy(end)).toBe(1);
    expect(await switchedOffBy(end)).toBe(0);
    const { rows } = await store.postgres.query('select deactivated_by from waybell.subscriptions where guid = $1', [
      guid,
    ]);
    expect(rows).toEqual([{ deactivated_by: end.delivery }]);
  });

  test.each([
    ['a success', { isDelivered: true }],
    ['the end of an earlier generation', { generation: 2 }],
  ])('leaves on what had %s', async (_, what) => {
    const guid = await aSubscription();
    expect(await switchedOffBy(anEnd(guid, what))).toBe(0);
  });

  test('keeps times to the millisecond, each with its own message', async () => {
    const [first, second] = [await aSubscription(), await aSubscription()];
    const at = wallClockMs() - 5_000;
    await noteEndsIn(deactivator, { offOnExhausted: [] })([anEnd(first, { at }), anEnd(second, { at: at + 1 })]);
    const { rows } = await store.postgres.query(
      'select last_failure_at from waybell.subscriptions where guid = any($1) order by guid = $2',
      [[first, second], second],
    );
    expect(rows).toEqual([{ last_failure_at: new Date(at) }, { last_failure_at: new Date(at + 1) }]);
  });

  test('has a success told of one that fails, until it is noted that it succeeds again', async () => {
    const guid = await aSubscription();
    const settle = noteEndsIn(deactivator, { offOnExhausted: [] });
    const reportsSuccess = async () => (await targetOf(keyRing, guid))?.reportsSuccess;
    const at = wallClockMs() - 5_000;
    for (const [end, isToldNext] of [
      [{ isDelivered: true, at }, false],
      [{ at: at + 1 }, true],
      [{ isDelivered: true, at: at + 2 }, false],
    ] as const) {
      await settle([anEnd(guid, end)]);
      expect(await reportsSuccess()).toBe(isToldNext);
    }
  });
});

test('what ends a subscription, or switches it off, is the same in the tables of memory', async () => {
  const memory = new MemorySubscriptions();
  memory.offOnExhausted = RULES.offOnExhausted;
  const states = {
    active: 'is_active = true',
    deactivated: 'is_active = false',
    ended: 'is_active = false, ended_at = now()',
    held: `paused_until = '2099-01-01T00:00Z'`,
  } as const;
  const ends = {
    delivered: { isDelivered: true },
    failed: {},
    uncounted: { isUncounted: true as const },
    late: { generation: 2 },
  };
  const gone = { gone: { isGone: true as const }, goneLate: { isGone: true as const, generation: 2 } };
  const made: { name: string; guid: string; end: DeliveryEnd }[] = [];
  for (const interfaceName of ['carrier', 'shipper'] as const) {
    const account = await anAccount(interfaceName);
    const action = interfaceName === 'carrier' ? 'order.created' : 'order.paid';
    for (const [state, change_] of Object.entries(states))
      for (const [how, what] of Object.entries<Partial<DeliveryEnd>>({ ...ends, ...gone })) {
        const client = `${state}-${how}`;
        const of = { interface: interfaceName, action, account, client };
        const guid = await aSubscription(of);
        await change(guid, change_);
        const kept =
          state === 'held'
            ? ({ held: { why: 'paused', until: Date.UTC(2099, 0) } } as const)
            : { state: state as DeliveryTarget['state'] };
        memory.add({ ...of, ...kept, guid, generation: 3, callbackUrl: `https://a.test/${guid}` });
        made.push({ name: `${interfaceName} ${client}`, guid, end: anEnd(guid, what) });
      }
  }
  const { true: isGone = [], false: others = [] } = Object.groupBy(
    made.map(({ end }) => end),
    (end) => `${end.isGone === true}`,
  );
  await endGoneIn(deactivator, { endOnGone: ['carrier'], log: silentLog })(isGone);
  memory.endGone(isGone, ['carrier']);
  const off = await switchedOffBy(...others);
  expect(memory.settle(others)).toBe(off);
  const targets = await findTargetsIn(deliverer, keyRing)(made.map(({ guid }) => guid));
  const shown = (target: KnownTarget) => {
    if (target === undefined || isNoResult(target)) throw new Error('there is no target');
    const { state, isGone: wasGone, held, account, callbackUrl, verificationToken, isFeatureOn } = target;
    return { state, wasGone, held, account, callbackUrl, verificationToken, isFeatureOn };
  };
  const inMemory = made.map(({ name, guid }) => [name, shown(memory.target(guid))]);
  expect(made.map(({ name }, place) => [name, shown(targets[place])])).toEqual(inMemory);
  for (const [interfaceName, name] of [
    ['carrier', 'order.created'],
    ['shipper', 'order.paid'],
  ] as const) {
    const action = actionOf(interfaceName, name);
    const account = memory.rows.find((row) => row.interface === interfaceName)?.account ?? '';
    const [[found = []] = []] = await findSubscriptionsIn(router)([{ action, receivers: [account] }]);
    const told = ({ guid, client, generation, auditFieldSet, isFeatureOn }: ActiveSubscription) => ({
      guid,
      client,
      generation,
      auditFieldSet,
      isFeatureOn,
    });
    const byGuid = (one: { guid: string }, other: { guid: string }) => (one.guid < other.guid ? -1 : 1);
    expect(found.map(told).toSorted(byGuid)).toEqual(
      memory.find(interfaceName, name, account).map(told).toSorted(byGuid),
    );
    expect(found.length).toBeGreaterThan(0);
  }
});

describe('startSweep', () => {
  test('switches off by itself what has failed for the window', async () => {
    const guid = await aSubscription();
    const switchOff = switchOffIn(deactivator, { ...RULES, windowMs: 60_000 });
    await using _ = startSweep({ switchOff, intervalMs: 10, log: silentLog, metrics: createMetrics('deactivator') });
    await change(guid, `failing_since = now() - interval '61 s', last_failure_at = now()`);
    const rule = await until('it is off', async () => {
      const { rows } = await store.postgres.query(
        'select deactivation_rule from waybell.subscriptions where guid = $1',
        [guid],
      );
      return rows[0].deactivation_rule ?? undefined;
    });
    expect(rule).toBe('window');
  });
});

describe('deactivations', () => {
  const of = (guid: string) => (each: Deactivated) => each.subscription === guid;

  test('are told with all that is to be known of them, and then no more', async () => {
    const account = await anAccount('carrier');
    const guid = await aSubscription({ account, client: 'second' });
    const end = anEnd(guid);
    await switchedOffBy(end);
    const told: Deactivated[] = [];
    const { claim, settle, publicationOf } = deactivationsIn(deactivator, {
      claimMs: 60_000,
      onPublished: (off) => told.push(off),
    });
    const claimed = (await claim()).filter(of(guid));
    const { rows } = await store.postgres.query(
      'select round(extract(epoch from deactivated_at) * 1000)::float8 as at from waybell.subscriptions where guid = $1',
      [guid],
    );
    const whose = { subscription: guid, generation: 3, account, client: 'second', interface: 'carrier' };
    const expected = {
      kind: 'deactivated',
      ...whose,
      action: 'order.created',
      rule: 'exhausted',
      delivery: end.delivery,
    };
    expect(claimed).toEqual([{ ...expected, at: rows[0].at }]);
    expect(claimed.flatMap((each) => readOutcomes(publicationOf(each)?.body ?? Buffer.alloc(0)))).toEqual(claimed);
    expect((await claim()).filter(of(guid))).toEqual([]);
    await settle(claimed);
    await settle(claimed);
    expect(told).toEqual(claimed);
  });

  test('are claimed again where whoever claimed them does not settle them in time', async () => {
    const guid = await aSubscription();
    await switchedOffBy(anEnd(guid));
    const dying = deactivationsIn(deactivator, { claimMs: 0, onPublished: () => undefined });
    const claimed = (await dying.claim()).filter(of(guid));
    expect(claimed).toHaveLength(1);
    expect((await dying.claim()).filter(of(guid))).toEqual(claimed);
  });
});
