import { randomUUID } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { rabbitmqPlugins } from '@waybell/stack/rabbitmqctl';
import { until } from '@waybell/runtime/testing/until';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import { carrierOf, publicAddress, stack, untilServed, untilOthersWouldBeOff, waitsFor } from './stand.ts';

type Policy = { name: string; definition: Record<string, unknown>; kind?: 'set_policy' | 'set_operator_policy' };

async function policy({ name, definition, kind = 'set_policy' }: Policy): Promise<AsyncDisposable> {
  const [vhost, applied] = [
    ['-p', stack.vhost],
    ['--apply-to', 'queues', '--priority', '7'],
  ];
  await stack.rabbitmqctl(kind, ...vhost, ...applied, name, '.*', JSON.stringify(definition));
  return {
    async [Symbol.asyncDispose]() {
      await stack.rabbitmqctl(kind.replace('set', 'clear'), ...vhost, name);
      await runWaybell(stack, ['declare']);
    },
  };
}

export function brokerPolicies(): void {
  describe('a policy of the broker that touches queues of the line', () => {
    let management: { AMQP_MANAGEMENT_URL: string };
    let settings: AsyncDisposable;

    beforeAll(async () => {
      const { username, password } = new URL(stack.brokerUrl);
      management = { AMQP_MANAGEMENT_URL: `http://${username}:${password}@127.0.0.1:15672` };
      // Its port is that of any other: this network has one broker.
      await rabbitmqPlugins(stack.stack.servers.process('rabbitmq').spec, 'enable', 'rabbitmq_management');
      settings = await stack.withSettings('event-router', management);
    });

    afterAll(async () => settings?.[Symbol.asyncDispose]());

    test.each<[string, Policy]>([
      ['expires', { name: 'tidy-up', definition: { expires: 86_400_000 } }],
      ['message-ttl', { name: 'a-day', definition: { 'message-ttl': 86_400_000 } }],
      ['max-length', { name: 'bounded', definition: { 'max-length': 1_000_000, overflow: 'drop-head' } }],
      [
        'an operator policy',
        { name: 'of-the-house', kind: 'set_operator_policy', definition: { expires: 86_400_000 } },
      ],
    ])('is named by declare, status and readiness: %s', async (_, what) => {
      await using _policy = await policy(what);
      const told = async (command: string) => {
        const { stdout, stderr } = await runWaybell(stack, [command], { env: management });
        return stdout + stderr;
      };
      await until('declare names it', async () => (await told('declare')).includes(what.name));
      await until('status names it', async () => (await told('status')).includes(what.name));
      await until('readiness names it', async () => (await waitsFor('event-router'))?.includes(what.name));
    });

    test('loses nothing that was rejected, and changes no reason', async () => {
      await using _policy = await policy({ name: 'two-seconds', definition: { 'message-ttl': 2_000 } });
      const guid = randomUUID();
      await stack.upstream.publishRaw('carrier.order.created', Buffer.from('no event'), guid);
      const rejected = async () => (await runWaybell(stack, ['rejected', 'list'])).stdout;
      const reasonsOf = (listed: string) => listed.split('\n').filter((line) => line.includes(guid));
      const [first = ''] = await until('it is rejected', async () => {
        const found = reasonsOf(await rejected());
        return found.length > 0 && found;
      });
      // Longer than it may lie there.
      await untilOthersWouldBeOff();
      const reason = (line: string) => line.split(/ {2,}/)[2];
      await until('it lies there for the same reason', async () => {
        const found = reasonsOf(await rejected());
        return found.length === 1 && reason(found[0] ?? '') === reason(first);
      });
      expect(reason(first)).toBeDefined();
    });

    test('is no matter once it is gone', async () => {
      const carrier = await carrierOf(publicAddress(33));
      await carrier.hear();
      await untilServed([carrier], 1);
      await stack.untilReady();
    });
  });
}
