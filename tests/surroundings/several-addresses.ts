import { randomUUID } from 'node:crypto';
import { once } from 'node:events';
import { createServer as createPlain, type RequestListener, type Server } from 'node:http';
import { createServer } from 'node:https';
import { connect, type Socket } from 'node:net';
import { Worker } from 'node:worker_threads';
import { afterAll, describe, expect, test } from '@jest/globals';
import { systemClock } from '@waybell/runtime/clock';
import { until } from '@waybell/runtime/testing/until';
import { authority, carrierAt, expectOn, moveTo, publicAddress } from './stand.ts';

const PORT_OF_TLS = 8453;
const PORT_OF_SLOW = 8090;
const SLOW_MS = 800;

/** Listens there and takes no connection: once two wait, the kernel drops what comes. */
const DEAD = `
  const { workerData } = require('node:worker_threads');
  const server = require('node:net').createServer();
  server.listen({ ...workerData.at, backlog: 1 }, () => {
    require('node:worker_threads').parentPort.postMessage('listening');
    setImmediate(() => Atomics.wait(new Int32Array(workerData.ending), 0, 0));
  });`;

async function deadAt(host: string, port: number): Promise<AsyncDisposable> {
  const ending = new SharedArrayBuffer(4);
  const worker = new Worker(DEAD, { eval: true, workerData: { at: { host, port }, ending } });
  await once(worker, 'message');
  const waiting = Array.from({ length: 4 }, () => connect({ host, port }).on('error', () => undefined));
  await until('its queue is full', () => waiting.filter(isConnected).length >= 2);
  return {
    async [Symbol.asyncDispose]() {
      for (const socket of waiting) socket.destroy();
      Atomics.store(new Int32Array(ending), 0, 1);
      Atomics.notify(new Int32Array(ending), 0);
      await worker.terminate();
    },
  };
}

const isConnected = (socket: Socket): boolean => !socket.connecting && !socket.destroyed;

export function severalAddresses(): void {
  describe('a receiver', () => {
    const servers: Server[] = [];
    afterAll(() => {
      for (const server of servers) server.close();
    });

    async function listening(server: Server, host: string, port: number): Promise<void> {
      servers.push(server);
      server.listen(port, host);
      await once(server, 'listening');
    }

    test.each([1, 2])('at a name whose first %d addresses are dead is called at the next', async (count) => {
      const host = `dead.${randomUUID()}.test`;
      const [alive, ...others] = [31, 32, 33].map(publicAddress);
      const dead = others.slice(0, count);
      await using stack = new AsyncDisposableStack();
      for (const each of dead) stack.use(await deadAt(each, PORT_OF_SLOW + count));
      const slowly: RequestListener = (request, response) => {
        request.resume().on('end', () => systemClock.after(SLOW_MS, () => response.end()));
      };
      await listening(createPlain(slowly), alive ?? '', PORT_OF_SLOW + count);
      moveTo(host, ...dead, alive ?? '');
      const carrier = await carrierAt(`http://${host}:${PORT_OF_SLOW + count}`);
      for (let each = 1; each <= 3; each += 1) await carrier.hear();
      await until('it is delivered', async () => (await carrier.standing()).last_success_at !== null);
      await expectOn([carrier]);
    });

    test('that moves is followed while it is called every moment, over https', async () => {
      const host = `moving.${randomUUID()}.test`;
      const seen: string[] = [];
      const [from, to] = [publicAddress(34), publicAddress(35)];
      for (const address of [from, to]) {
        const take: RequestListener = (request, response) => {
          request.resume().on('end', () => response.end());
          seen.push(address);
        };
        await listening(createServer(authority.issue({ name: host }), take), address, PORT_OF_TLS);
      }
      moveTo(host, from);
      const carrier = await carrierAt(`https://${host}:${PORT_OF_TLS}`);
      await carrier.hear();
      await until('it is called', () => seen.length === 1);
      moveTo(host, to);
      // A connection of a minute is followed by one to the new address.
      await until(
        'it is called at the other address',
        async () => {
          const count = seen.length;
          await carrier.hear();
          await until('it is called', () => seen.length > count);
          return seen.at(-1) === to;
        },
        () => seen.length,
      );
      await carrier.hear();
      await carrier.hear();
      await until('it is called there alone', () => seen.slice(-2).every((address) => address === to));
      await expectOn([carrier]);
      expect(seen.filter((address) => address === from).length).toBeGreaterThan(1);
    });
  });
}
