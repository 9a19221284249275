import { afterAll, describe, expect, test } from '@jest/globals';
import { readFileSync, writeFileSync } from 'node:fs';
import { dnsServer } from '@waybell/runtime/testing/dns-server';
import { until } from '@waybell/runtime/testing/until';
import { replaceFile } from './own-surroundings.ts';
import {
  carrierAt,
  carrierOf,
  expectOn,
  NAME_SERVER,
  OTHER_NAME_SERVER,
  PORT,
  publicAddress,
  resolveBy,
  saying,
  startAgain,
  untilForgotten,
  untilOthersWouldBeOff,
  untilServed,
  waitsFor,
} from './stand.ts';

const RESOLV = '/etc/resolv.conf';
const GONE = '127.0.0.55';

/** Written by another program: put in its place, or over what it said. */
const WAYS: [string, (lines: string[]) => void][] = [
  ['replaced', (lines) => replaceFile(RESOLV, lines)],
  ['written over', (lines) => writeFileSync(RESOLV, `${lines.join('\n')}\n`)],
];

export function nameServers(): void {
  describe('name servers that change while a deliverer runs', () => {
    afterAll(async () => {
      resolveBy({ servers: [NAME_SERVER] });
      await startAgain('deliverer');
    });

    test.each(WAYS)('are followed where the file is %s; what needs no name goes on meanwhile', async (_, write) => {
      await using other = await dnsServer(saying, { host: OTHER_NAME_SERVER, port: 53 });
      const first = await dnsServer(saying, { host: GONE, port: 53 });
      resolveBy({ servers: [GONE] });
      await startAgain('deliverer');
      const named = await carrierOf(publicAddress(24));
      const literal = await carrierAt(`http://${publicAddress(25)}:${PORT}`);
      await named.hear();
      await untilServed([named], 1);

      await first[Symbol.asyncDispose]();
      await untilForgotten();
      for (let count = 1; count <= 3; count += 1) {
        await named.hear();
        await literal.hear();
        await untilServed([literal], count);
      }
      await until('readiness names them', async () => (await waitsFor('deliverer'))?.includes(GONE));
      await literal.hear();
      await untilServed([literal], 4);

      write([`nameserver ${OTHER_NAME_SERVER}`]);
      await untilServed([named], 4);
      await until('it is ready', async () => (await waitsFor('deliverer')) === undefined);
      await expectOn([named, literal]);
      expect(other.asked).toContain(named.host);
    });

    test('are not needed for a name that comes into the hosts file', async () => {
      const first = await dnsServer(saying, { host: GONE, port: 53 });
      resolveBy({ servers: [GONE] });
      await startAgain('deliverer');
      const named = await carrierOf(publicAddress(24));
      await named.hear();
      await untilServed([named], 1);
      await first[Symbol.asyncDispose]();
      await untilForgotten();
      await named.hear();
      const hosts = readFileSync('/etc/hosts', 'utf8');
      replaceFile('/etc/hosts', [hosts, `${publicAddress(26)} ${named.host.toUpperCase()}`]);
      await untilServed([named], 2);
      await expectOn([named]);
      replaceFile('/etc/hosts', [hosts]);
    });

    test('switch none off while they are silent', async () => {
      let isSilent = false;
      await using _server = await dnsServer((name) => (isSilent ? 'silent' : saying(name)), { host: GONE, port: 53 });
      resolveBy({ servers: [GONE] });
      await startAgain('deliverer');
      const named = await carrierOf(publicAddress(24));
      await named.hear();
      await untilServed([named], 1);
      isSilent = true;
      await untilForgotten();
      await named.hear();
      await until('readiness names them', async () => (await waitsFor('deliverer'))?.includes(GONE));
      await untilOthersWouldBeOff();
      isSilent = false;
      await untilServed([named], 2);
      await expectOn([named]);
    });
  });
}
