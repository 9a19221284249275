import { createServer, type IncomingMessage, type Server, type ServerResponse } from 'node:http';
import { buffer } from 'node:stream/consumers';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { messageGuid } from '@waybell/notifications/message-guid';
import { closeServer, listen } from '@waybell/runtime/health';
import { until } from '@waybell/runtime/testing/until';
import { createReceiver } from '../../packages/receiver/create-receiver.ts';
import type { About } from '../../packages/receiver/read-notification.ts';
import type { Client } from '../testing/test-stack.ts';
import { stack } from './stand.ts';

type Handled = { action: string } & Pick<About, 'id' | 'attempt' | 'sentAt'>;

/** An integrator's receiver with the package, and the result of each request. */
class OwnReceiver implements AsyncDisposable {
  secrets: string[] = [];
  readonly tokens: Record<string, string> = {};
  readonly handled: Handled[] = [];
  readonly tested: string[] = [];
  readonly answers: string[] = [];
  /** How often the next ones fail. */
  failures = 0;
  #server: Server | undefined;

  async start(interfaceName: 'shipper' | 'carrier'): Promise<string> {
    const handle = async ({ action }: { action: string }, { id, attempt, sentAt }: About) => {
      if (this.failures > 0) throw new Error(`failure ${this.failures--}`);
      this.handled.push({ action, id, attempt, sentAt });
    };
    const { receive } = createReceiver({
      interface: interfaceName,
      secrets: () => this.secrets,
      tokens: ({ action }: { action: string }) => this.tokens[action],
      handle,
      onTest: ({ action }: { action: string }) => void this.tested.push(action),
      onTrouble: () => undefined,
    });
    const answer = async (request: IncomingMessage, response: ServerResponse) => {
      const { method = '', headers } = request;
      const answered = await receive({ method, headers, body: await buffer(request) });
      this.answers.push(answered.body);
      response.writeHead(answered.status, answered.headers).end(answered.body);
    };
    this.#server = createServer((request, response) => void answer(request, response));
    const { port } = await listen(this.#server, { host: '127.0.0.1', port: 0 });
    return `http://127.0.0.1:${port}/waybell`;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#server === undefined) return;
    const isClosed = closeServer(this.#server);
    this.#server.closeAllConnections();
    await isClosed;
  }
}

export function receiverPackage(): void {
  describe.each([
    { interfaceName: 'shipper', action: 'order.picked_up' },
    { interfaceName: 'carrier', action: 'order.created' },
  ] as const)(
    'a receiver of the $interfaceName interface that is made with the package',
    ({ interfaceName, action }) => {
      const own = new OwnReceiver();
      let client: Client;
      let subscription: string;

      beforeAll(async () => {
        client = await stack.client(interfaceName);
        const url = await own.start(interfaceName);
        own.tokens[action] = await client.subscribe(action, url);
        own.secrets = await client.signingSecrets();
        subscription = await stack.subscriptionAt(url);
      });
      afterAll(() => own[Symbol.asyncDispose]());

      /** Publishes an event and resolves with how it was handled, once. */
      const hear = async (): Promise<Handled> => {
        const id = messageGuid((await client.hear(action)).guid, subscription);
        await until(`${id} is handled`, () => own.handled.some((each) => each.id === id));
        const [first, ...others] = own.handled.filter((each) => each.id === id);
        expect(others).toEqual([]);
        if (first === undefined) throw new Error('nothing was handled');
        return first;
      };

      test('handles what happens', async () => {
        expect(await hear()).toMatchObject({ action, attempt: 1, sentAt: expect.any(Date) });
      });

      test('goes on while secrets are rotated: with the old one, with both, with the new one', async () => {
        const [older] = own.secrets;
        const [newer = ''] = await client.signingSecrets('rotated');
        expect(newer).not.toBe(older);
        expect(await hear()).toMatchObject({ attempt: 1 });
        own.secrets = [newer, ...own.secrets];
        expect(await hear()).toMatchObject({ attempt: 1 });
        own.secrets = [newer];
        expect(await hear()).toMatchObject({ attempt: 1 });
      });

      test('gets again what its handler threw at', async () => {
        own.failures = 2;
        expect(await hear()).toMatchObject({ attempt: 3 });
      });

      test('handles once what is sent again, which is delivered', async () => {
        const { id } = await hear();
        const count = own.answers.length;
        await until('the log has it', async () => {
          return (await client.call('POST', `/v1/deliveries/${id}/resend`)).status < 300;
        });
        await until('it came again', () => own.answers.length > count);
        expect(own.answers.slice(count)).toEqual(['{"status":"repeated"}']);
        expect(own.handled.filter((each) => each.id === id)).toHaveLength(1);
      });

      test('keeps a test from the handler', async () => {
        const count = own.handled.length;
        const { status, body } = await client.call('POST', `/v1/subscriptions/${subscription}/test`);
        expect([status < 300, JSON.stringify(body)]).toEqual([
          true,
          expect.stringContaining(String.raw`{\"status\":\"test\"}`),
        ]);
        expect([own.tested, own.handled.length]).toEqual([[action], count]);
      });
    },
  );
}
