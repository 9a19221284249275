import type { IncomingMessage } from 'node:http';
import { describe, expect, jest, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { until } from '@waybell/runtime/testing/until';
import { silentLog as log } from '@waybell/runtime/testing/patience';
import { httpServer } from '@waybell/runtime/testing/server';
import { shared } from '@waybell/runtime/testing/shared';
import { PolicyCheck, readPolicies, vhostOf } from './policies.ts';

const QUEUE = { name: 'waybell.rejected', type: 'quorum', arguments: { 'x-overflow': 'reject-publish' } };
const EXPIRES = { name: 'all', pattern: '.*', 'apply-to': 'all', definition: { expires: 60_000 }, priority: 0 };

/** Serves RabbitMQ's management API, or an error status. */
const api: { rows: Record<string, object[]>; status: number; asked: Pick<IncomingMessage, 'url' | 'headers'>[] } = {
  rows: {},
  status: 200,
  asked: [],
};
const server = shared(() =>
  httpServer((request, response) => {
    api.asked.push(request);
    const [, , kind = ''] = request.url?.split(/[/?]/) ?? [];
    response.writeHead(api.status).end(JSON.stringify(api.rows[kind] ?? []));
  }),
);

const address = { url: 'amqp://a%20user:secret@nowhere/freight%2Fone' };

describe('readPolicies', () => {
  test('asks for the virtual host of the line as its user', async () => {
    api.rows = { policies: [EXPIRES], queues: [QUEUE] };
    expect(await readPolicies({ managementUrl: `${server.url}/`, address })).toEqual([
      {
        kind: 'queue',
        name: 'waybell.rejected',
        policy: 'all',
        operatorPolicy: '',
        definition: { expires: 60_000 },
        arguments: QUEUE.arguments,
      },
    ]);
    expect(api.asked.map(({ url }) => url)).toContain('/api/queues/freight%2Fone?columns=name,type,arguments');
    const given = `Basic ${Buffer.from('a user:secret').toString('base64')}`;
    expect(new Set(api.asked.map(({ headers }) => headers.authorization))).toEqual(new Set([given]));
  });

  test.each<[what: string, policies: object[], operators: object[], of: object]>([
    [
      'the one of the highest priority',
      [EXPIRES, { ...EXPIRES, name: 'more', priority: 1, definition: { 'message-ttl': 1 } }],
      [],
      { policy: 'more', definition: { 'message-ttl': 1 } },
    ],
    ['none whose pattern is for others', [{ ...EXPIRES, pattern: '^orders' }], [], { policy: '', definition: {} }],
    ['none of other queues', [{ ...EXPIRES, 'apply-to': 'classic_queues' }], [], { policy: '', definition: {} }],
    ['none of exchanges', [{ ...EXPIRES, 'apply-to': 'exchanges' }], [], { policy: '', definition: {} }],
    ['one of quorum queues', [{ ...EXPIRES, 'apply-to': 'quorum_queues' }], [], { policy: 'all' }],
    ['one whose pattern is of any case', [{ ...EXPIRES, pattern: '(?i)WAYBELL' }], [], { policy: 'all' }],
    ['none of any case that is for others', [{ ...EXPIRES, pattern: '(?i)^Celery' }], [], { policy: '' }],
    ['one whose pattern is Erlang’s own', [{ ...EXPIRES, pattern: '^(?>waybell)' }], [], { policy: 'all' }],
    [
      'an operator policy beside it, and the smaller number',
      [EXPIRES],
      [{ ...EXPIRES, name: 'ops', definition: { expires: 90_000, overflow: 'drop-head' } }],
      { policy: 'all', operatorPolicy: 'ops', definition: { expires: 60_000, overflow: 'drop-head' } },
    ],
  ])('takes %s', async (_, policies, operators, expected) => {
    api.rows = { policies, 'operator-policies': operators, queues: [QUEUE] };
    const [queue] = await readPolicies({ managementUrl: server.url, address });
    expect(queue ?? { policy: '', definition: {} }).toMatchObject(expected);
  });

  test('reads what a policy says of exchanges', async () => {
    const alternate = { ...EXPIRES, definition: { 'alternate-exchange': 'x' } };
    api.rows = { policies: [alternate], exchanges: [{ name: 'waybell.retry', type: 'direct', arguments: {} }] };
    const read = await readPolicies({ managementUrl: server.url, address });
    expect(read).toMatchObject([{ kind: 'exchange', definition: { 'alternate-exchange': 'x' } }]);
  });

  test.each([
    [401, /rabbitmqctl set_user_tags/],
    [404, /AMQP_MANAGEMENT_URL/],
  ])('says what to do where it is answered with %d', async (status, said) => {
    api.status = status;
    await expect(readPolicies({ managementUrl: server.url, address })).rejects.toThrow(said);
    api.status = 200;
  });
});

test('a virtual host that is not named is the first one', () => {
  expect([vhostOf('amqp://a'), vhostOf('amqp://a/'), vhostOf('amqp://a/x,amqp://b/x')]).toEqual(['/', '/', 'x']);
});

describe('PolicyCheck', () => {
  test('names a harmful policy until it is gone, also while it cannot look', async () => {
    api.rows = { policies: [EXPIRES], queues: [QUEUE] };
    const logged = jest.spyOn(log, 'error');
    await using check = new PolicyCheck({ managementUrl: server.url, address, log, clock: systemClock, everyMs: 5 });
    await until('it is named', () => check.waitingFor().length === 1);
    expect(check.waitingFor()).toEqual([expect.stringMatching(/^policy "all": expires=60000 for 1 of ours/)]);
    const [todo] = check.waitingFor();
    const lookedAt = api.asked.length;
    await until('it has looked again', () => api.asked.length > lookedAt + 8);
    expect(logged.mock.calls).toEqual([[{ todo }, 'policy.harmful']]);
    api.status = 500;
    const asked = api.asked.length;
    await until('it has failed to read them', () => api.asked.length > asked + 2);
    expect(check.waitingFor()).toHaveLength(1);
    Object.assign(api, { status: 200, rows: {} });
    await until('it is gone', () => check.waitingFor().length === 0);
  });
});
