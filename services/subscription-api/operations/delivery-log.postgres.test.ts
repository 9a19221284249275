import { randomUUID } from 'node:crypto';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { signUp, startApi } from '../testing/api.ts';
import { createToken } from '../tokens.ts';
import type { Attempted } from '@waybell/line/outcomes';
import { until } from '@waybell/runtime/testing/until';
import {
  aDelivered,
  aDropped,
  aFailed,
  anExhausted,
  aRouted,
  LogStand,
  START,
} from '@waybell/delivery-log/testing/log-stand';
import { aDelivery, putDelivery } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { shared } from '@waybell/runtime/testing/shared';

// Only the test of its limit is about that.
const api = shared(() => startApi({ timeoutMs: 60_000 }));
const stand = shared(() => LogStand.on(api.store));

type Whose = { token: string; account: string; client: string };

async function someone(interfaceName: 'shipper' | 'carrier' = 'carrier'): Promise<Whose> {
  const { guid, token } = await signUp(api, { interface: interfaceName });
  return { token, account: guid, client: 'default' };
}

const timeline = async (subject: string, token: string, query = '') =>
  api.ask('GET', `/v1/timeline/${subject}${query}`, { token });
const show = (delivery: string, token: string) => api.ask('GET', `/v1/deliveries/${delivery}`, { token });

describe('GET /v1/timeline/{key}', () => {
  test('tells what was sent, and what the receiver said', async () => {
    const [us, subject] = [await someone(), randomUUID()];
    const answer = {
      durationMs: 31,
      status: 503,
      reason: 'http_5xx' as const,
      url: 'https://a.test/hook',
      ip: '203.0.113.7',
      dnsMs: 1,
      connectMs: 2,
      tlsMs: 3,
      firstByteMs: 30,
      body: 'Not now',
    };
    const attempts = [
      aFailed({ at: START + 40, retryAt: START + 1_040, waited: 'full', answer }),
      aDelivered({ attempt: 2, at: START + 1_060 }),
    ];
    const { event, delivery, subscription } = await stand.log(attempts, { ...us, subject });
    const { status, body } = await timeline(subject.toUpperCase(), us.token);
    expect(status).toBe(200);
    expect(body).toEqual({
      objects: [
        {
          event_guid: event,
          action: 'order.created',
          at: '2026-11-20T09:30:00.000Z',
          keys: [{ kind: 'order_guid', key: subject }],
          verdicts: [
            {
              kind: 'delivery',
              delivery: {
                guid: delivery,
                event_guid: event,
                action: 'order.created',
                keys: [{ kind: 'order_guid', key: subject }],
                subscription_guid: subscription,
                at: '2026-11-20T09:30:00.000Z',
                status: 'delivered',
                attempts: [
                  {
                    attempt: 1,
                    at: '2026-11-20T09:30:00.040Z',
                    kind: 'failed',
                    waited: 'full',
                    http_status: 503,
                    reason: 'http_5xx' as const,
                    meaning: expect.stringContaining('5xx'),
                    remedy: expect.any(String),
                    retry_at: '2026-11-20T09:30:01.040Z',
                    duration_ms: 31,
                    url: 'https://a.test/hook',
                    ip: '203.0.113.7',
                    dns_ms: 1,
                    connect_ms: 2,
                    tls_ms: 3,
                    first_byte_ms: 30,
                  },
                  {
                    attempt: 2,
                    at: '2026-11-20T09:30:01.060Z',
                    kind: 'delivered',
                    http_status: 200,
                    duration_ms: 12,
                  },
                ],
              },
            },
          ],
        },
      ],
      next: null,
    });
  });

  test('tells what was not sent, and why', async () => {
    const [us, subject] = [await someone(), randomUUID()];
    const of = { keys: [{ kind: 'order_guid', key: subject }], receivers: [us.account] };
    const absorbed = {
      reason: 'position_absorbed',
      account: us.account,
      client: 'default',
      subscription: randomUUID(),
    };
    await stand.write([
      aRouted({ ...of, at: START, suppressed: [{ reason: 'no_subscription', account: us.account }] }),
      aRouted({ ...of, at: START + 1, suppressed: [{ ...absorbed, reason: 'position_absorbed' }] }),
      {
        ...of,
        kind: 'rejected',
        event: randomUUID(),
        interface: 'carrier',
        action: 'order.created',
        at: START + 2,
        reason: 'payload_invalid',
        detail: '/payload/id must be a number',
      },
    ]);
    const { body } = await timeline(subject, us.token);
    const verdicts = body.objects.flatMap((event: { verdicts: object[] }) => event.verdicts);
    expect(verdicts).toMatchObject([
      { kind: 'rejected', reason: 'payload_invalid', detail: '/payload/id must be a number' },
      { kind: 'suppressed', reason: 'position_absorbed', subscription_guid: absorbed.subscription },
      { kind: 'suppressed', reason: 'no_subscription', cause: 'unknown_account', remedy: expect.any(String) },
    ]);
  });

  test('has the one event of which the guid is asked for, and tells nobody else of it', async () => {
    const [us, subject] = [await someone(), randomUUID()];
    const { event } = await stand.log([anExhausted()], { ...us, subject });
    expect((await timeline(event, us.token)).body.objects).toMatchObject([{ event_guid: event }]);
    expect((await timeline(event, us.token, '?kind=order_guid')).body.objects).toEqual([]);
    expect((await timeline(event, (await someone()).token)).body.objects).toEqual([]);
  });

  test('is wrapped for shippers, as their other answers', async () => {
    const us = await someone('shipper');
    const { body } = await timeline(randomUUID(), us.token);
    expect(body).toEqual({ status: 'success', data: { objects: [], next: null } });
  });

  test('goes page by page, newest first, none twice and none left out, and events that come meanwhile move nothing', async () => {
    const [us, subject] = [await someone(), randomUUID()];
    const logAfter = (ms: number) => stand.log([], { ...us, subject, at: START + ms });
    // Three at the same millisecond: a page ends among them.
    const events = await Promise.all([0, 5, 5, 5, 9, 12].map(logAfter));
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await timeline(subject, us.token, `?limit=2${cursor}`);
      seen.push(...body.objects.map(({ event_guid }: { event_guid: string }) => event_guid));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
      await logAfter(100 + seen.length);
    }
    expect(seen).toHaveLength(6);
    expect(new Set(seen)).toEqual(new Set(events.map(({ event }) => event)));
    expect([seen[0], seen[5]]).toEqual([events[5]?.event, events[0]?.event]);
  });

  test('tells no other account of it, on either interface, and no other client', async () => {
    const [us, subject] = [await someone(), randomUUID()];
    const { delivery } = await stand.log([anExhausted()], { ...us, subject });
    const client = await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'other' });
    expect((await timeline(subject, (await someone()).token)).body.objects).toEqual([]);
    expect((await timeline(subject, (await someone('shipper')).token)).body.data.objects).toEqual([]);
    // The event was for its account, so that it may know why it did not get it.
    const { body, text } = await timeline(subject, client);
    expect(body.objects).toMatchObject([{ verdicts: [{ kind: 'suppressed', reason: 'no_subscription' }] }]);
    expect(text).not.toContain(delivery);
  });

  test('does not tell where a forbidden name leads to', async () => {
    const us = await someone();
    const answer = { durationMs: 1, reason: 'blocked_address' as const, ip: '10.1.2.3' };
    const { subject, delivery } = await stand.log([anExhausted({ answer })], us);
    for (const { text } of [await timeline(subject, us.token), await show(delivery, us.token)]) {
      expect(text).toContain('blocked_address');
      expect(text).not.toContain('10.1.2.3');
    }
  });

  test.each([
    ['limit', '?limit=0'],
    ['limit', '?limit=201'],
    ['limit', '?limit=2e1'],
    ['limit', '?limit=1&limit=2'],
    ['cursor', '?cursor=x'],
    ['cursor', `?cursor=9999999999999999_${randomUUID()}`],
    ['key', '?key=x'],
  ])('refuses a wrong %s: %s', async (parameter, query) => {
    const us = await someone();
    const { status, body } = await timeline(randomUUID(), us.token, query);
    expect([status, body.errors]).toEqual([422, [{ parameter, detail: expect.any(String) }]]);
  });

  test('answers 503 where Postgres takes longer than its limit', async () => {
    await using slow = await startApi({ beside: api, timeoutMs: 300 });
    const { token } = await signUp(slow, { interface: 'carrier' });
    const lock = await slow.store.postgres.connect();
    await lock.query('begin; lock table delivery_log.keys in access exclusive mode');
    const { status, headers } = await slow.ask('GET', `/v1/timeline/${randomUUID()}`, { token });
    expect([status, headers.get('retry-after')]).toEqual([503, '5']);
    await lock.query('rollback');
    lock.release();
    const answered = await until('Postgres answers in time again', async () => {
      const answer = await slow.ask('GET', `/v1/timeline/${randomUUID()}`, { token });
      return answer.status !== 503 && answer;
    });
    expect([answered.status, answered.body]).toEqual([200, { objects: [], next: null }]);
  });
});

describe('GET /v1/deliveries/{guid}', () => {
  test('tells what was sent, without secrets, and what the receiver answered', async () => {
    const us = await someone();
    const sent = '{"action":"order.created","note":"it\'s ü"}';
    const answer = {
      durationMs: 9,
      status: 500,
      reason: 'http_5xx' as const,
      url: 'https://a.test/hook?key=***',
      body: 'Oh <no>',
    };
    const { delivery } = await stand.log([aFailed({ at: START + 40, answer, body: sent })], us);
    const { status, body } = await show(delivery.toUpperCase(), us.token);
    expect([status, body]).toMatchObject([
      200,
      {
        guid: delivery,
        status: 'retrying',
        reason: 'http_5xx',
        next_attempt_at: '2026-11-20T09:30:01.000Z',
        attempts: [{ http_status: 500, answer: 'Oh <no>' }],
        request: {
          url: 'https://a.test/hook?key=***',
          headers: { 'webhook-id': delivery, 'x-service-verification-token': '***', 'webhook-signature': '***' },
          body: sent,
          body_state: 'kept',
        },
        curl: expect.stringContaining('"$QUERY_1"'),
      },
    ]);
  });

  test('tells what came where that was no response, and which rule it breaks', async () => {
    const us = await someone();
    const reason = 'invalid_response' as const;
    const answer = { durationMs: 9, reason, body: 'HTTP/1.1 200 OK\r\nno', brokenRule: 'line 1 has no colon' };
    const { delivery } = await stand.log([aFailed({ at: START + 40, answer })], us);
    const { body } = await show(delivery, us.token);
    expect(body).toMatchObject({ attempts: [{ reason, answer: answer.body, broken_rule: answer.brokenRule }] });
  });

  test('tells that it waits, since when and why', async () => {
    const us = await someone();
    const subscription = await stand.subscribe(us.account, 'order.created');
    const { delivery: guid } = await stand.log([aFailed()], { ...us, subscription });
    await putDelivery(api.store.postgres, aDelivery({ guid, subscription, attempt: 2 }));
    const { body } = await show(guid, us.token);
    expect(body.waiting).toEqual({ since: '2026-11-20T09:30:05.000Z', why: 'hung' });
  });

  test('says of a body that is gone that it is no longer kept', async () => {
    const us = await someone('shipper');
    const { delivery } = await stand.log([anExhausted()], { ...us, interface: 'shipper' });
    await stand.rows('truncate delivery_log.chunks');
    const { body } = await show(delivery, us.token);
    expect(body).toMatchObject({
      status: 'success',
      data: {
        object: { status: 'exhausted', request: { body: null, body_state: 'no_longer_kept' }, curl: null },
      },
    });
  });

  test('says that its end switched the subscription off', async () => {
    const us = await someone();
    const { delivery, subscription } = await stand.log([anExhausted({ at: START + 8_000 })], us);
    const of = { subscription, generation: 1, account: us.account, client: us.client, interface: 'carrier' } as const;
    const off = { kind: 'deactivated', ...of, action: 'order.created', rule: 'exhausted' } as const;
    await stand.write([
      { ...off, at: START + 8_200, delivery },
      { ...off, at: START + 8_100, generation: 2, delivery: randomUUID() },
    ]);
    const { body } = await show(delivery, us.token);
    expect(body).toMatchObject({ deactivation: { at: '2026-11-20T09:30:08.200Z', rule: 'exhausted' } });
  });

  test("answers of another's delivery as of one that is not there", async () => {
    const us = await someone();
    const { delivery } = await stand.logLately([], us);
    const client = await createToken(api.store.postgres, { accountGuid: us.account, clientId: 'other' });
    const asked = [
      await show(delivery, client),
      await show(delivery, (await someone()).token),
      await show(delivery, (await someone('shipper')).token),
      await show(randomUUID(), us.token),
    ];
    const told = asked.map(({ body: { type, title, status, detail: why } }) => [type, title, status, why].join());
    expect(told[0]).toMatch(/^urn:waybell:problem:unknown-delivery,.*404/);
    expect(new Set(told).size).toBe(1);
    expect((await show(delivery, us.token)).status).toBe(200);
  });
});

const list = (token: string, query = '') => api.ask('GET', `/v1/deliveries${query}`, { token });
const guidsIn = (objects: { guid: string }[]) => objects.map(({ guid }) => guid);

/** A client with a delivery in each way that it can stand, the oldest first, a second apart. */
async function everyStatus() {
  const us = await someone();
  const subscription = await stand.subscribe(us.account, 'order.created');
  const logged = (index: number, ...attempts: Attempted[]) =>
    stand.log(attempts, { ...us, subscription, at: START + index * 1_000 });
  const exhausted = await logged(3, anExhausted({ at: START + 90_000 }));
  const rejected = await logged(5);
  const made = [
    await logged(0),
    await logged(1, aFailed({ at: START + 1_020 })),
    await logged(2, aDelivered({ at: START + 2_020 })),
    exhausted,
    await logged(4, aDropped({ at: START + 4_020 })),
    rejected,
  ];
  const { event, delivery } = rejected;
  const of = { event, delivery, interface: 'carrier', action: 'order.created', at: START + 5_020 } as const;
  const nobody = { keys: [], receivers: [], reason: 'process_killed', detail: '' };
  await stand.write([{ kind: 'rejected', ...of, ...nobody }]);
  return { us, subject: exhausted.subject, guids: made.map((each) => each.delivery) };
}

describe('GET /v1/deliveries', () => {
  let all: Awaited<ReturnType<typeof everyStatus>>;
  beforeAll(async () => {
    all = await everyStatus();
  });

  test('lists those of the client, newest first, page by page', async () => {
    const seen: string[] = [];
    for (let cursor = ''; ;) {
      const { body } = await list(all.us.token, `?limit=4${cursor}`);
      seen.push(...guidsIn(body.objects));
      if (body.next === null) break;
      cursor = `&cursor=${body.next}`;
    }
    expect(seen).toEqual(all.guids.toReversed());
  });

  test.each(['waiting', 'retrying', 'delivered', 'exhausted', 'dropped', 'rejected'])(
    'finds those that are %s',
    async (status) => {
      const { body } = await list(all.us.token, `?status=${status}`);
      expect(body).toMatchObject({ objects: [{ status }], next: null });
    },
  );

  test('finds them by subject, action, reason and time, and by all together', async () => {
    const [, retrying, , exhausted, dropped] = all.guids;
    const found = async (query: string) => guidsIn((await list(all.us.token, query)).body.objects);
    expect(await found(`?key=${all.subject.toUpperCase()}`)).toEqual([exhausted]);
    expect(await found('?action=order.created')).toHaveLength(6);
    expect(await found('?action=order.updated')).toEqual([]);
    expect(await found('?reason=response_timeout')).toEqual([exhausted]);
    expect(await found('?reason=unsubscribed')).toEqual([dropped]);
    expect(await found('?status=retrying&reason=http_5xx')).toEqual([retrying]);
    expect(await found('?since=2026-11-20T10:30:01%2B01:00&until=2026-11-20T09:30:04Z')).toHaveLength(3);
    const every = `key=${all.subject}&action=order.created&since=2026-11-20T09:30:03Z&until=2026-11-20T09:30:04Z`;
    expect(await found(`?${every}&status=exhausted&reason=response_timeout&limit=200`)).toEqual([exhausted]);
    expect(await found(`?${every}&status=dropped`)).toEqual([]);
  });

  test('tells each where it ended last, though it was sent again by hand', async () => {
    const us = await someone();
    const subscription = await stand.subscribe(us.account, 'order.created');
    const attempts = [
      anExhausted({ attempt: 4, at: START + 7_000 }),
      anExhausted({ attempt: 8, at: START + 99_000, byHand: 'resend' }),
    ];
    const { event, delivery } = await stand.log(attempts, { ...us, subscription });
    const of = { event, delivery, subscription };
    const { body } = await list(us.token, '?status=exhausted');
    expect(guidsIn(body.objects)).toEqual([delivery]);
    expect(body.objects[0].attempts).toMatchObject([{ attempt: 4 }, { attempt: 8, by_hand: 'resend' }]);
    await stand.write([aDelivered({ ...of, attempt: 9, at: START + 120_000, byHand: 'resend' })]);
    expect((await list(us.token, '?status=exhausted')).body.objects).toEqual([]);
  });

  test('shows no client those of another account, or of another client', async () => {
    const client = await createToken(api.store.postgres, { accountGuid: all.us.account, clientId: 'other' });
    for (const query of ['', '?status=exhausted', `?key=${all.subject}`]) {
      expect((await list(client, query)).body).toEqual({ objects: [], next: null });
      expect((await list((await someone()).token, query)).body).toEqual({ objects: [], next: null });
      expect((await list((await someone('shipper')).token, query)).body.data).toEqual({ objects: [], next: null });
    }
  });

  test.each([
    [
      'status',
      'lost',
      'must be one of: waiting, retrying, delivered, exhausted, dropped, rejected, which "lost" is not',
    ],
    ['reason', 'bad_luck', expect.stringMatching(/must be one of: .*dns, .*expired, parked_over_limit, unsubscribed/)],
    ['action', 'order.paid', expect.stringMatching(/must be one of: .*order\.created/)],
    ['key', '%20', expect.stringContaining('a guid, a number, a VIN')],
    ['since', '2026-02-30T00:00:00Z', expect.stringContaining('RFC 3339 timestamp such as')],
    ['until', '2026-11-20T09:30:00+01:00', expect.stringContaining('%2B')],
    ['order', 'asc', expect.stringContaining('is not known here; known are: key,')],
  ])('refuses a wrong %s, %s', async (parameter, value, detail) => {
    const { status, body } = await list(all.us.token, `?${parameter}=${value}`);
    expect([status, body.errors]).toEqual([422, [{ parameter, detail }]]);
  });

  test('names all that is wrong with a request', async () => {
    const { body } = await list(all.us.token, '?status=x&limit=x&x=x');
    expect(body.errors.map(({ parameter }: { parameter: string }) => parameter)).toEqual(['x', 'status', 'limit']);
  });
});

describe('many clients that ask for timelines at once', () => {
  test('keep no client waiting that asks for something else', async () => {
    const us = await someone();
    const busy = await api.store.postgres.connect();
    await busy.query('begin; lock table delivery_log.keys in access exclusive mode');
    const asked = Promise.all(Array.from({ length: 12 }, () => timeline(randomUUID(), us.token)));
    try {
      await until('they wait in Postgres', async () => (await waitingForLocks()) >= HALF_OF_CONNECTIONS);
      for (let n = 0; n < 5; n += 1) {
        const { status } = await api.ask('GET', '/v1/signing-secrets', { token: us.token });
        expect(status).toBe(200);
      }
      expect(await waitingForLocks()).toBe(HALF_OF_CONNECTIONS);
    } finally {
      await busy.query('rollback');
      busy.release();
    }
    expect((await asked).map(({ status }) => status)).toEqual(Array(12).fill(200));
  });
});

/** Half of the connections that the API under test has. */
const HALF_OF_CONNECTIONS = 4;

async function waitingForLocks(): Promise<number> {
  const rows = await stand.rows<object>(
    "select from pg_stat_activity where datname = current_database() and wait_event_type = 'Lock'",
  );
  return rows.length;
}
