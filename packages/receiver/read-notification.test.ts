import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { Webhook } from 'standardwebhooks';
import { actionsOf } from '@waybell/catalog/actions';
import { JsonNumber } from '@waybell/events/json';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import vectors from '../../docs/signature-vectors.json' with { type: 'json' };
import { actionNames } from './action-names.ts';
import { isSigned, type Checks } from './checks.ts';
import { createReceiver } from './create-receiver.ts';
import { parseNotification, type Interface, type NotificationOf, stringify } from './parse-notification.ts';
import { readNotification, type ReceivedRequest } from './read-notification.ts';
import { signedRequest } from './testing.ts';

const aSecret = () => `whsec_${randomBytes(24).toString('base64')}`;
const secret = aSecret();
const AT = new Date('2026-11-20T09:30:00Z');
const about = { interface: 'carrier', action: 'order.created', secret, token: 'token', at: AT } as const;
const checks = { secrets: secret, tokens: 'token', now: () => AT.getTime() };

const read = (request: ReceivedRequest, what: Checks = checks, interfaceName: Interface = 'carrier') =>
  readNotification(request, { interface: interfaceName, ...what });
/** The reason of the refusal, else the kind of what was read. */
const endOf = async (...args: Parameters<typeof read>) => {
  const reading = await read(...args);
  return reading.kind === 'refused' ? [reading.reason, reading.status] : reading.kind;
};
const without = (name: string) => {
  const request = signedRequest(about);
  return { ...request, headers: { ...request.headers, [name]: undefined } };
};

describe('readNotification', () => {
  test('tells the notification, and what the request says beside it', async () => {
    const request = signedRequest({ ...about, id: 'an-id', attempt: 3, isTest: true });
    expect(await read(request)).toMatchObject({
      kind: 'notification',
      action: 'order.created',
      notification: { action: 'order.created', guid: 'an-id', data: { id: expect.any(Number) } },
      id: 'an-id',
      attempt: 3,
      isTest: true,
      sentAt: AT,
      body: request.body,
    });
  });

  test('takes what is said of no attempt for the first, and only a test for one', async () => {
    expect(await read(without('x-webhook-attempt'))).toMatchObject({ attempt: 1 });
    const { headers, body } = signedRequest(about);
    expect(await read({ headers: { ...headers, 'x-webhook-test': 'false' }, body })).toMatchObject({ isTest: false });
  });

  test.each([
    ['no signature', without('webhook-signature'), 'missing_signature', 401],
    ['no timestamp', without('webhook-timestamp'), 'missing_signature', 401],
    ['no id', without('webhook-id'), 'missing_id', 400],
    ['no token', without('x-service-verification-token'), 'missing_token', 401],
    ['another secret', signedRequest({ ...about, secret: aSecret() }), 'signature_does_not_match', 401],
    ['another token', signedRequest({ ...about, token: 'tokens' }), 'token_does_not_match', 401],
    [
      'another id',
      { ...signedRequest(about), headers: { ...signedRequest(about).headers, 'webhook-id': 'b' } },
      'signature_does_not_match',
      401,
    ],
    ['another body', { ...signedRequest(about), body: '{}' }, 'signature_does_not_match', 401],
    ['a timestamp of 301 s ago', signedRequest({ ...about, at: new Date(AT.getTime() - 301_000) }), 'too_old', 401],
    ['a timestamp in 301 s', signedRequest({ ...about, at: new Date(AT.getTime() + 301_000) }), 'in_the_future', 401],
    [
      'a body that was parsed',
      { ...signedRequest(about), body: { action: 'order.created' } },
      'body_already_parsed',
      500,
    ],
  ])('refuses %s', async (_what, request, reason, status) => {
    expect(await endOf(request)).toEqual([reason, status]);
  });

  test.each([-300, 300])('takes a timestamp that is %d s off', async (offS) => {
    expect(await endOf(signedRequest({ ...about, at: new Date(AT.getTime() + offS * 1_000) }))).toBe('notification');
  });

  test('takes headers in any case, as Node and as fetch have them, and bytes as well as text', async () => {
    const { headers, body } = signedRequest(about);
    const upper = Object.fromEntries(Object.entries(headers).map(([name, value]) => [name.toUpperCase(), [value]]));
    expect(await endOf({ headers: upper, body })).toBe('notification');
    expect(await endOf({ headers: new Headers(headers), body: Buffer.from(body) })).toBe('notification');
    const padded = new Uint8Array(Buffer.from(` ${body} `));
    expect(await endOf({ headers, body: padded.subarray(1, -1) })).toBe('notification');
  });

  test('takes what any of several secrets signed, on either side, and any of several tokens', async () => {
    const [older, newer] = [aSecret(), aSecret()];
    const both = { ...checks, secrets: [older, newer], tokens: ['a', 'token'] };
    expect(await endOf(signedRequest({ ...about, secret: newer }), both)).toBe('notification');
    expect(await endOf(signedRequest({ ...about, secret: [newer, older] }), { ...checks, secrets: older })).toBe(
      'notification',
    );
    expect(await endOf(signedRequest({ ...about, secret }), both)).toEqual(['signature_does_not_match', 401]);
  });

  test.each([',', ' ', ', ', '\n'])('takes several secrets in one text, with %j between them', async (separator) => {
    const secrets = ` ${[aSecret(), secret].join(separator)} `;
    expect(await endOf(signedRequest(about), { ...checks, secrets })).toBe('notification');
  });

  const signedBy = (...values: (string | string[])[]) => {
    const { headers, body } = signedRequest(about);
    const own = headers['webhook-signature'] ?? '';
    const other = signedRequest({ ...about, secret: aSecret() }).headers['webhook-signature'] ?? '';
    const named = { own, other } as Record<string, string>;
    const given = values.map((each) => [each].flat().map((name) => named[name] ?? name));
    return { headers: { ...headers, 'webhook-signature': given.map((each) => each.join(' ')) }, body };
  };

  test.each([
    [[['v1a,abc', 'other', 'own']], 'notification'],
    [['other', 'own'], 'notification'],
    [[[...Array<string>(1_000).fill('v2,x'), 'own']], 'notification'],
    [[[...Array<string>(9).fill('other'), 'own']], 'notification'],
    [[[...Array<string>(10).fill('other'), 'own']], ['signature_does_not_match', 401]],
    [['v1,'], ['signature_does_not_match', 401]],
  ])('looks at the signatures in the header, but not at very many: case %#', async (values, end) => {
    expect(await endOf(signedBy(...(values as (string | string[])[])))).toEqual(end);
  });

  test('takes two headers of one name, which servers join with a comma', async () => {
    const { headers, body } = signedBy('own', 'other');
    expect(
      await endOf({ headers: { ...headers, 'webhook-signature': headers['webhook-signature'].join(', ') }, body }),
    ).toBe('notification');
  });

  test('asks no function about what is too old, or says no token', async () => {
    const asked = { ...checks, secrets: () => Promise.reject(new Error('asked')) };
    expect(await endOf(signedRequest({ ...about, at: new Date(0) }), asked)).toEqual(['too_old', 401]);
    expect(await endOf(without('x-service-verification-token'), asked)).toEqual(['missing_token', 401]);
  });

  test('reads nothing of a body before it has compared the token', async () => {
    const request = { ...signedRequest({ ...about, token: 'other' }), body: '{' };
    expect(await endOf(request, { tokens: 'token' })).toEqual(['token_does_not_match', 401]);
  });

  test('asks functions for secrets and for the tokens of an action', async () => {
    const tokens = { 'order.created': 'token', 'order.updated': 'other' } as Record<string, string>;
    const asked: Checks = { ...checks, secrets: async () => [secret], tokens: ({ action }) => tokens[action] };
    expect(await endOf(signedRequest(about), asked)).toBe('notification');
    expect(await endOf(signedRequest({ ...about, action: 'order.updated' }), asked)).toEqual([
      'token_does_not_match',
      401,
    ]);
    expect(await endOf(signedRequest({ ...about, action: 'order.delivered' }), asked)).toEqual([
      'token_does_not_match',
      401,
    ]);
  });

  test('does with either check alone, and never with none', async () => {
    const now = () => AT.getTime();
    expect(await endOf(signedRequest({ ...about, token: 'other' }), { secrets: secret, now })).toBe('notification');
    expect(await endOf(signedRequest({ ...about, secret: [] }), { tokens: 'token', now })).toBe('notification');
    // @ts-expect-error: the compiler says so too.
    await expect(read(signedRequest(about), {})).rejects.toThrow('"secrets", "tokens" or both');
  });

  test.each([
    ['"secrets" is undefined', { secrets: undefined, tokens: 'token' }],
    ['"tokens" is undefined', { secrets: secret, tokens: undefined }],
    ['no signing secret', { secrets: [] }],
    ['secrets[0] is no signing secret, which is "whsec_" and base64', { secrets: 'whsec_' }],
    ['secrets[0] is no signing secret', { secrets: 'not-a-secret' }],
    ['secrets[0] is no signing secret', { secrets: '' }],
    ['secrets[1] is no signing secret', { secrets: [secret, ''] }],
    ['secrets[1] is no signing secret', { secrets: [secret, undefined] as never }],
    ['secrets[1] is no signing secret', { secrets: `${secret},whsec_${randomBytes(23).toString('base64')}` }],
    ['secrets[0] is no signing secret', { secrets: `whsec_${'-_'.repeat(16)}` }],
    // Its last digit has bits that no byte takes.
    ['secrets[0] is no signing secret', { secrets: `whsec_${'A'.repeat(42)}B=` }],
    ['A comma or a blank separates several', { secrets: `${secret};${secret}` }],
    ['no signing secret', { secrets: () => undefined }],
    ['is empty', { tokens: '' }],
    ['is empty', { tokens: [' '] }],
    ['no verification token', { tokens: [] }],
  ])('rejects what would leave a check out: %s', async (message, what) => {
    await expect(read(signedRequest(about), { now: checks.now, ...what })).rejects.toThrow(message);
  });

  test('refuses what is genuine and no notification of the interface', async () => {
    const sign = (body: string) => {
      const headers = new Webhook(secret).sign('an-id', AT, body);
      return {
        headers: {
          'webhook-id': 'an-id',
          'webhook-timestamp': `${AT.getTime() / 1_000}`,
          'webhook-signature': headers,
        },
        body,
      };
    };
    const signed = { secrets: secret, now: checks.now };
    expect(await endOf(sign('{"action":'), signed)).toEqual(['not_json', 400]);
    expect(await endOf(sign('[]'), signed)).toEqual(['not_a_notification', 400]);
    expect(await endOf(sign('{"action":7}'), signed)).toEqual(['not_a_notification', 400]);
    expect(await endOf(signedRequest(about), signed, 'shipper')).toEqual(['not_a_notification', 400]);
    const detail = expect.stringContaining('is it of the carrier interface?');
    expect(await read(signedRequest(about), signed, 'shipper')).toMatchObject({ detail });
  });

  test('hands over an action that is newer than the package', async () => {
    const reading = await read(signedRequest({ ...about, action: 'order.teleported' }));
    expect(reading).toMatchObject({ kind: 'unknown_action', action: 'order.teleported', content: { data: {} } });
  });
});

describe('a signature', () => {
  test.each(vectors)('of the published vector verifies: $about', ({ id, timestamp, body, secrets, signature }) => {
    const signed = { id, timestampS: timestamp, body: Buffer.from(body) };
    for (const each of secrets) expect(isSigned(signature, [each], signed)).toBe(true);
    expect(isSigned(signature, [aSecret()], signed)).toBe(false);
    expect(isSigned(signature, secrets, { ...signed, timestampS: timestamp + 1 })).toBe(false);
  });

  test('of the library of Standard Webhooks verifies, and it verifies those of signedRequest', async () => {
    const now = new Date(wallClockMs());
    const { headers, body } = signedRequest({ ...about, at: now });
    expect(() => new Webhook(secret).verify(body, headers)).not.toThrow();
    const theirs = {
      ...headers,
      'webhook-signature': `v1a,other ${new Webhook(secret).sign(headers['webhook-id'] ?? '', now, body)}`,
    };
    expect(await endOf({ headers: theirs, body }, { secrets: secret })).toBe('notification');
  });
});

describe('parseNotification', () => {
  test.each(['shipper', 'carrier'] as const)('knows every action of the %s interface', (name) => {
    expect(actionNames[name]).toEqual(actionsOf(name).map((each) => each.name));
    for (const action of actionNames[name])
      for (const form of ['plain', 'revision'] as const)
        expect(parseNotification(name, signedRequest({ interface: name, action, form }).body)).toMatchObject({
          kind: 'notification',
          notification: { action },
        });
  });

  test('takes what is nested as deeply as an event may be', () => {
    const nested = `${'['.repeat(40)}${']'.repeat(40)}`;
    const { body } = signedRequest({ ...about, change: { data: { id: 1, status: 'new' } } });
    const parsed = parseNotification('carrier', body.replace('"new"', nested));
    expect(parsed.kind === 'notification' && stringify(parsed.notification)).toContain(nested);
  });

  test('keeps every digit', () => {
    const data = { id: 12_345_678_901_234_567_890n, status: 'new', price: new JsonNumber('0.10000000000000000000001') };
    const { body } = signedRequest({ ...about, change: { data } });
    expect(body).toContain('{"id":12345678901234567890,"status":"new","price":0.10000000000000000000001}');
    expect(parseNotification('carrier', body)).toMatchObject({ notification: { data } });
  });
});

const body =
  '{"action":"order.created","guid":"a","occurred_at":"x","data":{"id":12345678901234567890,"price":0.10000000000000000000001,"status":"Łódź"}}';

describe('stringify', () => {
  test('writes what was received, every digit of it', () => {
    const parsed = parseNotification('carrier', body);
    expect(parsed.kind === 'notification' && stringify(parsed.notification)).toBe(body);
  });

  test('throws for what JSON does not have, and says where', () => {
    expect(() => stringify({ data: [NaN] })).toThrow(new TypeError('/data/0: must be a finite number, not NaN'));
  });
});

test('JSON.stringify writes a JsonNumber as a text where JavaScript has no raw numbers yet', () => {
  const { rawJSON } = JSON;
  try {
    delete JSON.rawJSON;
    expect(JSON.stringify([new JsonNumber('0.10')])).toBe('["0.10"]');
  } finally {
    Object.assign(JSON, { rawJSON });
  }
  expect(JSON.stringify([new JsonNumber('0.10')])).toBe('[0.10]');
});

/** Compiles, or does not: that is the test. */
describe('the types', () => {
  const complete = (notification: NotificationOf<'carrier'>): string => {
    switch (notification.action) {
      case 'order.created':
        return String(notification.data.id);
      case 'order.assigned':
      case 'order.updated':
      case 'order.picked_up':
      case 'order.delivered':
      case 'order.cancelled':
      case 'damage.created':
      case 'damage.deleted':
        return notification.guid;
      default:
        return notification satisfies never;
    }
  };
  const incomplete = (notification: NotificationOf<'carrier'>): string => {
    // oxlint-disable-next-line typescript/switch-exhaustiveness-check -- what the compiler says of it is looked at
    switch (notification.action) {
      case 'order.created':
        return 'created';
      default:
        // @ts-expect-error: seven actions are missing.
        return notification satisfies never;
    }
  };

  test('complete a switch over every action', () => {
    const parsed = parseNotification(
      'carrier',
      signedRequest({ ...about, id: 'an-id', action: 'damage.created' }).body,
    );
    if (parsed.kind !== 'notification') throw new Error(parsed.kind);
    expect([
      complete(parsed.notification),
      incomplete({ ...parsed.notification, action: 'order.created', data: { id: 1, status: '' } }),
    ]).toEqual(['an-id', 'created']);
  });

  test('complete the handlers of every action, unless there is one for the rest', () => {
    const given = { interface: 'carrier', secrets: secret } as const;
    const on = { 'order.created': () => undefined };
    createReceiver({ ...given, on, otherwise: () => undefined });
    // @ts-expect-error: seven handlers are missing.
    expect(() => createReceiver({ ...given, on })).toThrow('order.assigned');
    const unknown = { 'order.teleported': () => undefined };
    // @ts-expect-error: an action that there is not.
    expect(() => createReceiver({ ...given, on: unknown, otherwise: () => undefined })).toThrow('order.teleported');
  });

  test('know the names of the actions', () => {
    const names: readonly NotificationOf<'shipper'>['action'][] = actionNames.shipper;
    // @ts-expect-error: an action that there is not.
    signedRequest({ ...about, change: { action: 'order.teleported' } });
    expect(names).toContain('order.picked_up');
  });
});
