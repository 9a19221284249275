import { createServer, type IncomingMessage } from 'node:http';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { closeServer, listen } from '@waybell/runtime/health';
import { createLog } from '@waybell/runtime/log';
import { until } from '@waybell/runtime/testing/until';
import { PolicyCheck } from './policy-check.ts';
import { readPolicies, vhostOf } from './read-policies.ts';

const log = createLog({ service: 'test', level: 'silent' });
const QUEUE = {
  name: 'waybell.rejected',
  policy: 'all',
  operator_policy: null,
  effective_policy_definition: { expires: 60_000 },
  arguments: { 'x-overflow': 'reject-publish' },
};
/** As Erlang writes an object without members. */
const PLAIN = { ...QUEUE, name: 'waybell.strays', policy: null, effective_policy_definition: [] };

/** Answers as the management API of RabbitMQ does. */
const api = {
  queues: [] as object[] | number,
  policies: 401 as object[] | number,
  exchanges: [] as object[],
  asked: [] as Pick<IncomingMessage, 'url' | 'headers'>[],
};
const server = createServer((request, response) => {
  api.asked.push(request);
  const [, , kind = ''] = request.url?.split(/[/?]/) ?? [];
  const answer = kind === 'queues' ? api.queues : kind === 'policies' ? api.policies : api.exchanges;
  if (typeof answer === 'number') response.writeHead(answer).end();
  else response.end(JSON.stringify(answer));
});
let managementUrl: string;
beforeAll(async () => {
  managementUrl = `http://127.0.0.1:${(await listen(server, { host: '127.0.0.1', port: 0 })).port}`;
});
afterAll(() => closeServer(server));

const address = { url: 'amqp://a%20user:secret@nowhere/freight%2Fone' };

describe('readPolicies', () => {
  test('asks for the virtual host of the line as its user, and reads queues though it may not read policies', async () => {
    Object.assign(api, { queues: [QUEUE, PLAIN], policies: 401 });
    const governed = await readPolicies({ managementUrl: `${managementUrl}/`, address });
    expect(governed).toEqual([
      {
        kind: 'queue',
        name: 'waybell.rejected',
        policy: 'all',
        operatorPolicy: '',
        definition: { expires: 60_000 },
        arguments: QUEUE.arguments,
      },
      expect.objectContaining({ name: 'waybell.strays', policy: '', definition: {} }),
    ]);
    const [queues] = api.asked;
    expect(queues?.url).toMatch(/^\/api\/queues\/freight%2Fone\?columns=name,/);
    expect(queues?.headers.authorization).toBe(`Basic ${Buffer.from('a user:secret').toString('base64')}`);
  });

  test('reads exchanges where it may read policies', async () => {
    const exchange = { name: 'waybell.retry', policy: 'all', arguments: {} };
    const policies = [{ name: 'all', definition: { 'alternate-exchange': 'x' } }];
    Object.assign(api, { queues: [], policies, exchanges: [exchange] });
    const governed = await readPolicies({ managementUrl, address });
    expect(governed).toMatchObject([{ kind: 'exchange', definition: { 'alternate-exchange': 'x' } }]);
  });

  test.each([
    [401, /rabbitmqctl set_user_tags/],
    [404, /AMQP_MANAGEMENT_URL/],
  ])('says what to do where it is answered with %d', async (status, said) => {
    api.queues = status;
    await expect(readPolicies({ managementUrl, address })).rejects.toThrow(said);
  });
});

test('a virtual host that is not named is the first one', () => {
  expect([vhostOf('amqp://a'), vhostOf('amqp://a/'), vhostOf('amqp://a/x,amqp://b/x')]).toEqual(['/', '/', 'x']);
});

describe('PolicyCheck', () => {
  test('names a harmful policy until it is gone, also while it cannot look', async () => {
    Object.assign(api, { queues: [QUEUE, PLAIN], policies: 401 });
    await using check = new PolicyCheck({ managementUrl, address, log, clock: systemClock, everyMs: 5 });
    await until('it is named', () => check.waitingFor().length === 1);
    expect(check.waitingFor()).toEqual([expect.stringMatching(/^policy "all": expires=60000 for 1 of ours/)]);
    api.queues = 500;
    const asked = api.asked.length;
    await until('it has looked in vain', () => api.asked.length > asked + 2);
    expect(check.waitingFor()).toHaveLength(1);
    api.queues = [PLAIN];
    await until('it is gone', () => check.waitingFor().length === 0);
  });
});
