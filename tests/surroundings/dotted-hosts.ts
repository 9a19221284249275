import { once } from 'node:events';
import { createServer, type Server } from 'node:https';
import { createSecureContext } from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { authority, carrierAt, expectOn, moveTo, publicAddress, stack } from './stand.ts';

const HOST = 'dotted.partner.test';
const ADDRESS = publicAddress(30);
const PORT_OF_TLS = 8443;

export function dottedHosts(): void {
  describe('a host with a dot at its end', () => {
    let server: Server;
    const hosts: (string | undefined)[] = [];

    beforeAll(async () => {
      const certificate = authority.issue({ name: HOST });
      server = createServer(
        {
          ...certificate,
          // The TLS servers of Go do so (RFC 6066, 3: a name without the dot).
          SNICallback: (name, done) =>
            name === HOST ? done(null, createSecureContext(certificate)) : done(new Error(`no certificate of ${name}`)),
        },
        (request, response) => {
          hosts.push(request.headers.host);
          response.end();
        },
      ).listen(PORT_OF_TLS, ADDRESS);
      await once(server, 'listening');
    });

    afterAll(() => void server.close());

    const untilDelivered = (carrier: Awaited<ReturnType<typeof carrierAt>>) =>
      until('it is delivered', async () => (await carrier.standing()).last_success_at !== null);

    async function storedUrl(guid: string): Promise<string | undefined> {
      const { rows } = await stack.postgres.query<{ callback_url: string }>(
        'select callback_url from waybell.subscriptions where guid = $1',
        [guid],
      );
      return rows[0]?.callback_url;
    }

    test('is stored and called without it', async () => {
      moveTo(HOST, ADDRESS);
      const carrier = await carrierAt(`https://${HOST}.:${PORT_OF_TLS}`);
      const { guid } = await carrier.standing();
      expect(await storedUrl(guid)).toBe(`https://${HOST}:${PORT_OF_TLS}${carrier.path}`);
      await carrier.hear();
      await untilDelivered(carrier);
      await expectOn([carrier]);
      expect(hosts.at(-1)).toBe(`${HOST}:${PORT_OF_TLS}`);
    });

    test('is called without it though it was stored with it', async () => {
      moveTo(HOST, ADDRESS);
      const carrier = await carrierAt(`https://${HOST}:${PORT_OF_TLS}`);
      const { guid } = await carrier.standing();
      const url = `https://${HOST}.:${PORT_OF_TLS}${carrier.path}`;
      await stack.postgres.query('update waybell.subscriptions set callback_url = $1 where guid = $2', [url, guid]);
      await carrier.hear();
      await untilDelivered(carrier);
      await expectOn([carrier]);
      expect(hosts.at(-1)).toBe(`${HOST}:${PORT_OF_TLS}`);
    });
  });
}
