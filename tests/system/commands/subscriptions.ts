import { randomUUID } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { runWaybell } from '@waybell/cli/testing/run-waybell';
import type { Client } from '../../testing/test-stack.ts';
import { receiver, settingsOf, stack } from '../stand.ts';

const ACTIONS = { shipper: 'order.paid', carrier: 'order.created' } as const;

/** The commands of a client. */
const subscriptionOf = (client: Client) => (args: string[], input?: string) =>
  runWaybell(stack, ['subscription', ...args], {
    env: { API_URL: stack.stack.addresses['API_URL'] ?? '', WAYBELL_TOKEN: client.token },
    ...(input !== undefined && { input }),
  });

export function subscriptions(): void {
  describe('./waybell subscription', () => {
    settingsOf('deactivator', () => ({ DEACTIVATE_ON_EXHAUSTED: 'shipper,carrier' }));

    test('applies a file, pauses, resumes and ends', async () => {
      const run = subscriptionOf(await stack.client('shipper'));
      const [action, url] = [ACTIONS.shipper, receiver.url(`/${randomUUID()}`)];
      const file = `callback_url: ${url}\nactions: [${action}]\n`;
      expect(await run(['apply', '--file', '-'], file)).toMatchObject({
        code: 0,
        stdout: expect.stringMatching(`^created  ${action}  \\S+  ${url}  on\n$`),
      });
      expect((await run(['apply', url, action])).stdout).toMatch(/^unchanged/);
      const wrong = await run(['apply', url, `${action}x`]);
      expect([wrong.code, wrong.stderr]).toEqual([1, expect.stringContaining(`the nearest is ${action}`)]);
      expect((await run(['pause', action, '--for', '1h'])).stdout).toMatch(/paused until 20/);
      expect((await run(['list'])).stdout).toMatch(/paused until 20/);
      expect((await run(['resume', action])).stdout).not.toMatch(/paused/);
      expect(await run(['end', action])).toMatchObject({ code: 0, stderr: expect.stringContaining('ended') });
      expect(await run(['list'])).toMatchObject({ stdout: '', stderr: expect.stringContaining('nothing') });
    });

    test.each(['shipper', 'carrier'] as const)(
      'of a %s keeps what is off as it is until its receiver answers a test; then has what it missed sent',
      async (interfaceName) => {
        const client = await stack.client(interfaceName);
        const [run, action, path] = [subscriptionOf(client), ACTIONS[interfaceName], `/${randomUUID()}`];
        receiver.answer(path, 500);
        const keep = () => run(['apply', receiver.url(path), action, '--keep']);
        expect((await keep()).code).toBe(0);
        await client.hear(action);
        await until('it is off', async () => (await run(['list'])).stdout.includes('off since'));
        const stays = await keep();
        expect([stays.code, stays.stderr]).toEqual([
          1,
          expect.stringContaining('stays off, as its test failed: http_5xx'),
        ]);
        receiver.answer(path, 200);
        const kept = await keep();
        expect([kept.code, kept.stderr]).toEqual([0, expect.stringMatching(/is on again[^]*: 1 replayed/)]);
        await until('it arrives', () =>
          receiver
            .at(path)
            .some(({ answered, headers }) => answered === 200 && headers['x-webhook-test'] === undefined),
        );
      },
    );

    test('is stopped and started by an operator', async () => {
      const run = subscriptionOf(await stack.client('carrier'));
      const [action, url] = [ACTIONS.carrier, receiver.url(`/${randomUUID()}`)];
      const [, , guid = ''] = (await run(['apply', url, action])).stdout.split(/\s+/);
      const stop = await runWaybell(stack, ['subscription', 'stop', guid, '--reason', 'it is being moved']);
      expect([stop.code, stop.stderr]).toEqual([0, expect.stringContaining('it is being moved')]);
      expect((await run(['list'])).stdout).toMatch(/stopped by the operator since 20\S+: it is being moved/);
      const tried = await run(['test', action]);
      expect([tried.code, tried.stdout]).toEqual([1, expect.stringContaining('it is being moved')]);
      expect((await runWaybell(stack, ['host', 'list'])).stdout).toContain(guid);
      expect((await runWaybell(stack, ['subscription', 'start', guid])).code).toBe(0);
      const again = await runWaybell(stack, ['subscription', 'start', guid]);
      expect([again.code, again.stderr]).toEqual([1, expect.stringContaining('not stopped')]);
      expect((await runWaybell(stack, ['audit', '--subscription', guid])).stdout).toMatch(
        /command line .*stopped_reason/,
      );
    });
  });
}
