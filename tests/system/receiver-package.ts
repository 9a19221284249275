import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/notification';
import { until } from '@waybell/runtime/testing/until';
import type { About } from '../../packages/receiver/read-notification.ts';
import type { Client } from '../testing/test-stack.ts';
import { stack } from './stand.ts';
import { KeptReceiver } from '../testing/kept-receiver.ts';

type Handled = { action: string } & Pick<About, 'id' | 'attempt' | 'sentAt'>;

export function receiverPackage(): void {
  describe.each([
    { interfaceName: 'shipper', action: 'order.picked_up' },
    { interfaceName: 'carrier', action: 'order.created' },
  ] as const)(
    'a receiver of the $interfaceName interface that is made with the package',
    ({ interfaceName, action }) => {
      let secrets: string[] = [];
      const tokens: Record<string, string> = {};
      const handled: Handled[] = [];
      const tested: string[] = [];
      /** How often the next ones fail. */
      let failures = 0;
      const own = new KeptReceiver({
        interfaceName,
        api: '',
        token: '',
        actions: [],
        checks: {
          secrets: () => secrets,
          tokens: (about) => tokens[about.action],
          handle: async (about, { id, attempt, sentAt }) => {
            if (failures > 0) throw new Error(`failure ${failures--}`);
            handled.push({ action: about.action, id, attempt, sentAt });
          },
          onTest: (about) => void tested.push(about.action),
        },
      });
      let client: Client;
      let subscription: string;

      beforeAll(async () => {
        client = await stack.client(interfaceName);
        await own.start({ isKept: false });
        tokens[action] = await client.subscribe(action, own.url);
        secrets = await client.signingSecrets();
        subscription = await stack.subscriptionAt(own.url);
      });
      afterAll(() => own[Symbol.asyncDispose]());

      /** Publishes an event and resolves with how it was handled, once. */
      const hear = async (): Promise<Handled> => {
        const id = messageGuid((await client.hear(action)).guid, subscription);
        await until(`${id} is handled`, () => handled.some((each) => each.id === id));
        const [first, ...others] = handled.filter((each) => each.id === id);
        expect(others).toEqual([]);
        if (first === undefined) throw new Error('nothing was handled');
        return first;
      };

      test('handles what happens', async () => {
        expect(await hear()).toMatchObject({ action, attempt: 1, sentAt: expect.any(Date) });
      });

      test('goes on while secrets are rotated: with the old one, with both, with the new one', async () => {
        const [older] = secrets;
        const [newer = ''] = await client.signingSecrets('rotated');
        expect(newer).not.toBe(older);
        expect(await hear()).toMatchObject({ attempt: 1 });
        secrets = [newer, ...secrets];
        expect(await hear()).toMatchObject({ attempt: 1 });
        secrets = [newer];
        expect(await hear()).toMatchObject({ attempt: 1 });
      });

      test('gets again what its handler threw at', async () => {
        failures = 2;
        expect(await hear()).toMatchObject({ attempt: 3 });
      });

      test('handles once what is sent again, which is delivered', async () => {
        const { id } = await hear();
        const count = own.answers.length;
        await until('the log has it', async () => {
          return (await client.call('POST', `/v1/deliveries/${id}/resend`)).status < 300;
        });
        await until('it came again', () => own.answers.length > count);
        expect(own.answers.slice(count).map(({ body }) => body)).toEqual(['{"status":"repeated"}']);
        expect(handled.filter((each) => each.id === id)).toHaveLength(1);
      });

      test('keeps a test from the handler', async () => {
        const count = handled.length;
        const { status, body } = await client.call('POST', `/v1/subscriptions/${subscription}/test`);
        expect([status < 300, JSON.stringify(body)]).toEqual([
          true,
          expect.stringContaining(String.raw`{\"status\":\"test\"}`),
        ]);
        expect([tested, handled.length]).toEqual([[action], count]);
      });
    },
  );
}
