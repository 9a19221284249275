import { putPublications } from '@waybell/line/waiting-room/testing/waiting-deliveries';
import { randomUUID } from 'node:crypto';
import { gzipSync } from 'node:zlib';
import { beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { onConnection } from '@waybell/line/operating/connect-once';
import { statesOf } from '@waybell/line/broker/broker-connection';
import { RejectedQueue } from '@waybell/line/operating/rejected-queue';
import { deliveriesExchange, rejectedQueue, routerQueue } from '@waybell/line/topology';
import { until } from '@waybell/runtime/testing/until';
import { shared } from '@waybell/runtime/testing/shared';
import { signUp, startApi } from '../testing/api.ts';
import type { Answer } from '../testing/ask.ts';
import { anEvent, startBroker } from '../testing/broker.ts';

const broker = shared(() => startBroker());
const api = shared(() => startApi({ brokerUrl: broker.url }));
let token: string;

const ask = (method: string, path: string, body?: unknown): Promise<Answer> =>
  api.admin.ask(method, `/v1/admin/${path}`, { token, body });

const bytesOf = (json: unknown) => Buffer.from(JSON.stringify(json));

/** How many messages wait in a queue: the broker may tell a moment late. */
async function messagesIn(name: string): Promise<number> {
  return until(`the state of ${name} is known`, async () => {
    const { body } = await ask('GET', 'queues');
    const queue = body.objects.find((each: { name: string }) => each.name === name);
    return queue?.is_known && { count: queue.messages };
  }).then(({ count }) => count);
}

const untilIn = (name: string, count: number) =>
  until(`${count} messages are in ${name}`, async () => (await messagesIn(name)) === count);

const listed = async (query = ''): Promise<Record<string, string>[]> =>
  (await ask('GET', `rejected${query}`)).body.objects;

beforeAll(async () => {
  ({ token } = await signUp(api, { interface: 'carrier', scopes: ['admin'] }));
});

beforeEach(async () => {
  await ask('POST', 'rejected/purge', { all: true, confirm: true });
  await untilIn(rejectedQueue, 0);
});

describe('queues', () => {
  test('are told with what waits in them, but those that are not there', async () => {
    const { status, body } = await ask('GET', 'queues');
    expect(status).toBe(200);
    expect(body).toEqual({
      objects: [rejectedQueue, routerQueue].map((name) => ({
        name,
        messages: expect.any(Number),
        consumers: 0,
        is_known: expect.any(Boolean),
      })),
      waiting: { objects: [] },
    });
  });

  test('are told with what waits in Postgres, as the broker does not accept it', async () => {
    await putPublications(api.store.postgres, 'router', 'x k.l', 3);
    const told = { service: 'event-router', exchange: 'x', routing_key: 'k.l', publications: 3 };
    const { body } = await ask('GET', 'queues');
    expect(body.waiting.objects).toMatchObject([{ ...told, bytes: expect.any(Number), is_claimed: false }]);
    expect((await ask('GET', 'waiting')).body.destinations).toEqual(body.waiting);
  });
});

describe('rejected messages', () => {
  test('are listed, by reason and by what they name', async () => {
    const [one, other] = [anEvent({ id: 4711 }), anEvent({ id: 4712 })];
    await broker.reject({ body: bytesOf(one), messageId: one.guid }, { body: bytesOf(other) });
    await untilIn(rejectedQueue, 2);
    expect(await listed()).toHaveLength(2);
    expect(await listed('?limit=1')).toHaveLength(1);
    expect(await listed('?reason=not_json')).toEqual([]);
    expect(await listed('?about=4711&reason=payload_invalid')).toMatchObject([
      { message_id: one.guid, queue: routerQueue, routing_key: 'carrier.order.created', size: bytesOf(one).length },
    ]);
  });

  test('are shown with their body: as text, also where it was compressed, or else in base64', async () => {
    const event = anEvent();
    const binary = Buffer.from([0xff, 0x00]);
    await broker.reject(
      { body: gzipSync(bytesOf(event)), contentEncoding: 'gzip', messageId: event.guid },
      { body: binary, messageId: 'binary' },
    );
    await untilIn(rejectedQueue, 2);
    const { body } = await ask('GET', `rejected/${event.guid}`);
    expect([body.body_encoding, JSON.parse(body.body)]).toEqual(['utf-8', event]);
    expect((await ask('GET', 'rejected/binary')).body).toMatchObject({
      body: binary.toString('base64'),
      body_encoding: 'base64',
    });
  });

  test('that several are called so, or none, are not guessed at', async () => {
    await broker.reject({ body: bytesOf(anEvent()) }, { body: bytesOf(anEvent()) });
    await untilIn(rejectedQueue, 2);
    expect((await ask('GET', 'rejected/4711')).body.type).toBe('urn:waybell:problem:several-rejected');
    expect((await ask('GET', `rejected/${randomUUID()}`)).status).toBe(404);
    expect(await messagesIn(rejectedQueue)).toBe(2);
  });

  test('go back to the line the way they came, and are gone then', async () => {
    const event = anEvent();
    await broker.reject({ body: bytesOf(event), messageId: event.guid }, { body: bytesOf(anEvent()) });
    await untilIn(rejectedQueue, 2);
    const before = await inRouter();
    const { body } = await ask('POST', 'rejected/retry', { ids: [event.guid] });
    expect(body).toMatchObject({ retried: 1, stayed: 0, objects: [{ kind: 'retried' }], is_complete: true });
    await untilIn(rejectedQueue, 1);
    expect(await inRouter()).toBe(before + 1);
  });

  test('that nobody can say where to are left where they are', async () => {
    await broker.reject({ body: bytesOf(anEvent()), exchange: 'elsewhere' });
    await untilIn(rejectedQueue, 1);
    const { body } = await ask('POST', 'rejected/retry', { reason: 'payload_invalid' });
    expect(body).toMatchObject({ retried: 0, stayed: 1, objects: [{ kind: 'stays', why: expect.any(String) }] });
    expect(await listed()).toHaveLength(1);
  });

  test('are deleted only where that is confirmed', async () => {
    await broker.reject({ body: bytesOf(anEvent()) }, { body: bytesOf(anEvent()) });
    await untilIn(rejectedQueue, 2);
    const trial = await ask('POST', 'rejected/purge', { about: '4711' });
    expect(trial.body).toMatchObject({ is_deleted: false, count: 2, objects: [{}, {}] });
    expect(await listed()).toHaveLength(2);
    const purged = await ask('POST', 'rejected/purge', { about: '4711', confirm: true });
    expect(purged.body).toMatchObject({ is_deleted: true, count: 2 });
    await untilIn(rejectedQueue, 0);
  });

  test.each(['retry', 'purge'])('are no object of %s unless it is said in exactly one way which', async (verb) => {
    for (const body of [{}, { all: true, reason: 'x' }, { ids: [] }, { all: false }, { reason: '' }, { every: true }])
      expect((await ask('POST', `rejected/${verb}`, body)).status).toBe(422);
    expect((await ask('POST', `rejected/${verb}`, { ids: [randomUUID()] })).status).toBe(404);
  });

  test('are in the hands of one at a time', async () => {
    await using _taken = await RejectedQueue.open({ url: broker.url });
    const { status, body } = await ask('GET', 'rejected');
    expect([status, body.type]).toEqual([409, 'urn:waybell:problem:rejected-taken']);
  });
});

describe('a corrected event', () => {
  const wrong = anEvent({ id: 'x', status: 'new' });

  async function rejected(): Promise<string> {
    await broker.reject({ body: bytesOf(wrong), messageId: wrong.guid });
    await untilIn(rejectedQueue, 1);
    const [{ id = '' } = {}] = await listed();
    return id;
  }

  test('takes the place of the rejected one, digit for digit', async () => {
    const id = await rejected();
    const before = await inRouter();
    const raw = JSON.stringify({ ...wrong, payload: { id: 4711, status: 'new', colour: 'red' } }, null, 2);
    const headers = { 'content-type': 'application/json' };
    const { status, body } = await api.admin.ask('POST', `/v1/admin/rejected/${id}/publish`, { token, raw, headers });
    expect([status, body]).toEqual([
      200,
      { event_guid: wrong.guid, routing_key: 'carrier.order.created', unknown_members: ['/payload/colour'] },
    ]);
    await untilIn(rejectedQueue, 0);
    expect(await inRouter()).toBe(before + 1);
  });

  test('that is still wrong is refused with the place of the fault, and nothing is published or removed', async () => {
    const id = await rejected();
    const before = await inRouter();
    const { status, body } = await ask('POST', `rejected/${id}/publish`, wrong);
    expect(status).toBe(422);
    expect(body.errors).toEqual([{ pointer: '#/payload/id', detail: expect.stringContaining('payload_invalid') }]);
    const broken = { raw: '{', headers: { 'content-type': 'application/json' } };
    const path = `/v1/admin/rejected/${id}/publish`;
    expect((await api.admin.ask('POST', path, { token, ...broken })).body.detail).toContain('not_json');
    expect([await messagesIn(rejectedQueue), await inRouter()]).toEqual([1, before]);
  });

  test('is checked as if it were published, without the broker, and nothing is published or removed', async () => {
    await using other = await startApi({ beside: api });
    const check = (body: unknown) => other.admin.ask('POST', '/v1/admin/rejected/0123456789/check', { token, body });
    const right = { ...wrong, payload: { id: 4711, status: 'new', colour: 'red' } };
    const { status, body } = await check(right);
    expect([status, body]).toEqual([
      200,
      { event_guid: wrong.guid, routing_key: 'carrier.order.created', unknown_members: ['/payload/colour'] },
    ]);
    const refused = await check(wrong);
    expect([refused.status, refused.body.errors]).toEqual([
      422,
      [{ pointer: '#/payload/id', detail: expect.stringContaining('payload_invalid') }],
    ]);
    const id = await rejected();
    const before = await inRouter();
    expect((await ask('POST', `rejected/${id}/check`, right)).status).toBe(200);
    expect([await messagesIn(rejectedQueue), await inRouter()]).toEqual([1, before]);
  });

  test('takes the place of no delivery, and of nothing that is not there', async () => {
    await broker.reject({ body: bytesOf({}), exchange: deliveriesExchange, messageId: randomUUID() });
    await untilIn(rejectedQueue, 1);
    const [{ id } = {}] = await listed();
    const before = await inRouter();
    const refused = await ask('POST', `rejected/${id}/publish`, anEvent());
    expect([refused.status, refused.body.type]).toEqual([409, 'urn:waybell:problem:not-an-event']);
    expect((await ask('POST', 'rejected/0123456789/publish', anEvent())).status).toBe(404);
    expect([await messagesIn(rejectedQueue), await inRouter()]).toEqual([1, before]);
  });
});

describe('without the broker', () => {
  test('operators are told which setting names it, and the process is as ready as before', async () => {
    await using other = await startApi({ beside: api });
    const { status, body } = await other.admin.ask('GET', '/v1/admin/queues', { token });
    expect([status, body.type]).toEqual([501, 'urn:waybell:problem:no-broker']);
    expect(body.detail).toContain('ADMIN_AMQP_URL');
  });

  test('they are told to come again where it does not answer', async () => {
    await using other = await startApi({ beside: api, brokerUrl: 'amqp://127.0.0.1:1' });
    for (const path of ['queues', 'rejected', 'rejected/4711']) {
      const { status, headers } = await other.admin.ask('GET', `/v1/admin/${path}`, { token });
      expect([path, status, headers.get('retry-after')]).toEqual([path, 503, '5']);
    }
  });
});

/** How many events wait for the router. */
async function inRouter(): Promise<number> {
  return until('the broker has told', async () => {
    const [state] = await onConnection(broker, (connection) => statesOf(connection, [routerQueue]));
    return state?.isKnown && { count: state.messages };
  }).then(({ count }) => count);
}
