import { createServer, type AddressInfo, type Server, type Socket } from 'node:net';
import { once } from 'node:events';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { carrierAt, expectOn, publicAddress } from './stand.ts';

const ADDRESS = publicAddress(29);
const EVENTS = 20;

/** Reactions of a connection to a second request. */
const ENDS = {
  'is closed': (socket: Socket) => void socket.end(),
  'is cut': (socket: Socket) => void socket.resetAndDestroy(),
};

export function closingConnections(): void {
  describe.each(Object.entries(ENDS))('a kept connection that %s just when the next request comes', (_, end) => {
    let server: Server;
    let port = 0;
    let ended = 0;
    const taken = new Set<string>();
    const attempts = new Set<string>();

    beforeAll(async () => {
      server = createServer((socket) => {
        let requests = 0;
        let text = '';
        socket.on('error', () => undefined);
        socket.on('data', (bytes: Buffer) => {
          text += bytes.toString('latin1');
          // Every body here is an object, and ends with it.
          if (!text.endsWith('}')) return;
          const [, id = ''] = /^webhook-id: (.*)\r$/im.exec(text) ?? [];
          const [, attempt = ''] = /^x-webhook-attempt: (.*)\r$/im.exec(text) ?? [];
          attempts.add(attempt);
          text = '';
          requests += 1;
          if (requests > 1) {
            ended += 1;
            end(socket);
          } else {
            taken.add(id);
            socket.write('HTTP/1.1 200 OK\r\ncontent-length: 0\r\n\r\n');
          }
        });
      }).listen(0, ADDRESS);
      await once(server, 'listening');
      ({ port } = server.address() as AddressInfo);
    });

    afterAll(() => void server.close());

    test('makes no attempt fail', async () => {
      const carrier = await carrierAt(`http://${ADDRESS}:${port}`);
      for (let sent = 1; sent <= EVENTS; sent += 1) {
        await carrier.hear();
        await until('it is taken', () => taken.size === sent);
      }
      expect(ended).toBeGreaterThan(0);
      expect([...attempts]).toEqual(['1']);
      await expectOn([carrier]);
    });
  });
}
