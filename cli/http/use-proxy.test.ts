import { mkdtempSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { httpServer, tlsServer, type TestServer } from '@waybell/runtime/testing/server';
import { clientApi } from '../client-api.ts';
import { forward } from '../listen/forward.ts';
import { proxyHint, useProxy } from './use-proxy.ts';
import { createServer, type Server } from 'node:http';
import { connect } from 'node:net';
import { closeServer, listen } from '@waybell/runtime/health';
import { PATIENT_MS } from '@waybell/runtime/testing/patience';

const NAME = 'api.waybell.test';
const trusted = getCACertificates('default');
const folder = mkdtempSync(join(tmpdir(), 'waybell-proxy-'));
const ca = join(folder, 'ca.pem');

let secure: TestServer;
let plain: TestServer;
let proxy: TestProxy;
let restore: () => void = () => undefined;

beforeAll(async () => {
  const certificate = aSelfSignedCertificate({ name: NAME });
  writeFileSync(ca, certificate.cert);
  secure = await tlsServer(certificate, (_request, response) => response.end('{"from":"elsewhere"}'));
  plain = await httpServer((_request, response) => response.end('from this machine'));
  proxy = await startProxy(secure);
});
afterEach(() => {
  restore();
  restore = () => undefined;
  proxy.asked.length = 0;
  setDefaultCACertificates(trusted);
});
afterAll(async () => {
  for (const each of [proxy, secure, plain]) await each[Symbol.asyncDispose]();
  rmSync(folder, { recursive: true });
});

const post = (url: string) => forward({ headers: {}, body: Buffer.from('{}') }, new URL(url), PATIENT_MS);

describe('useProxy', () => {
  test.each(['HTTP_PROXY', 'http_proxy'])(
    'has requests go through %s, with and without http:// before it',
    async (name) => {
      restore = useProxy({ [name]: proxy.address }, []);
      expect(await (await fetch(`http://${NAME}/a`)).text()).toBe('from the proxy');
      restore();
      restore = useProxy({ [name]: `http://${proxy.address}/` }, []);
      expect(await post(`http://${NAME}/b`)).toMatchObject({ status: 200, body: 'from the proxy' });
      expect(proxy.asked).toEqual([`GET http://${NAME}/a`, `POST http://${NAME}/b`]);
    },
  );

  test.each(['127.0.0.1', '127.1.2.3', 'localhost'])('never does what is asked of %s', async (host) => {
    const url = new URL(`http://${host}:${plain.port}/`);
    restore = useProxy({ http_proxy: proxy.address, no_proxy: 'example.com' }, [url]);
    // The server listens at one address, and what matters is where it was not asked.
    await fetch(url).catch(() => undefined);
    await post(url.href);
    expect(proxy.asked).toEqual([]);
  });

  test.each([['127.9.9.9'], ['*'], ['example.com, 127.9.9.9']])('leaves out what NO_PROXY says: %s', async (said) => {
    // Loopback, but nobody says so: it stands for what is elsewhere.
    const url = `http://127.9.9.9:${plain.port}/`;
    restore = useProxy({ HTTP_PROXY: proxy.address, NO_PROXY: said }, []);
    await fetch(url).catch(() => undefined);
    await post(url);
    expect(proxy.asked).toEqual([]);
    restore();
    restore = useProxy({ HTTP_PROXY: proxy.address }, []);
    await fetch(url);
    expect(proxy.asked).toHaveLength(1);
  });

  test('does nothing without a proxy, and says what is no address of one', () => {
    useProxy({ HTTPS_PROXY: '' }, [])();
    expect(() => useProxy({ HTTPS_PROXY: 'socks5://127.0.0.1:1080' }, [])).toThrow(/^HTTPS_PROXY names no HTTP proxy/);
  });
});

describe('proxyHint', () => {
  test('names the proxy, without its password, and how to do without it', () => {
    const env = { HTTPS_PROXY: 'http://ann:secret@proxy.corp.test:3128' };
    expect(proxyHint(new URL(`https://${NAME}/`), env)).toBe(
      ` (HTTPS_PROXY names the proxy proxy.corp.test:3128: NO_PROXY=${NAME} would leave it out)`,
    );
    for (const url of ['https://localhost/', 'https://127.0.0.1/', 'https://[::1]/', `http://${NAME}/`])
      expect(proxyHint(new URL(url), env)).toBe('');
  });
});

describe('clientApi', () => {
  beforeEach(() => {
    // It leaves the process with a proxy: this is how to come back to none.
    restore = useProxy({ HTTPS_PROXY: proxy.address }, []);
  });

  test('asks an API of which the certificate is in a file, through HTTPS_PROXY', async () => {
    const api = clientApi({ api: `https://${NAME}`, token: 'a', ca }, { HTTPS_PROXY: proxy.address });
    expect(await api.ask('GET', '/v1/token')).toEqual({ from: 'elsewhere' });
    expect(proxy.asked).toEqual([`CONNECT ${NAME}:443`]);
    // A receiver that is elsewhere is called so, too.
    expect(await post(`https://${NAME}/hook`)).toMatchObject({ status: 200 });
    expect(proxy.asked).toHaveLength(2);
  });

  test('says what to do where the certificate is not trusted, or the proxy is in the way', async () => {
    const env = { HTTPS_PROXY: proxy.address };
    const ask = (api: string) => clientApi({ api, token: 'a' }, env).ask('GET', '/v1/token');
    await expect(ask(`https://${NAME}`)).rejects.toThrow(
      /: self-signed certificate: --ca <file> with its .* \(HTTPS_PROXY names the proxy .*NO_PROXY=api\.waybell\.test/,
    );
  });

  test('says which file holds no certificate', () => {
    const file = join(folder, 'empty.pem');
    const open = () => clientApi({ api: `https://${NAME}`, token: 'a', ca: file }, {});
    expect(open).toThrow(/no such file.*empty\.pem/);
    writeFileSync(file, 'x');
    expect(open).toThrow(/empty\.pem holds no certificate in PEM/);
    writeFileSync(file, '-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----');
    expect(open).toThrow(/empty\.pem holds a certificate that is broken/);
  });
});

/** A proxy on loopback that has every request go to one port of loopback, whatever it asked for, and tells what that was. */
type TestProxy = AsyncDisposable & { address: string; asked: string[] };

async function startProxy(to: { port: number }): Promise<TestProxy> {
  const asked: string[] = [];
  const server: Server = createServer((request, response) => {
    asked.push(`${request.method} ${request.url}`);
    response.end('from the proxy');
  });
  server.on('connect', ({ url = '' }, socket) => {
    asked.push(`CONNECT ${url}`);
    const upstream = connect(to.port, '127.0.0.1', () => {
      socket.write('HTTP/1.1 200 OK\r\n\r\n');
      upstream.pipe(socket);
      socket.pipe(upstream);
    });
    for (const each of [upstream, socket]) each.on('error', () => [upstream, socket].forEach((end) => end.destroy()));
    socket.once('close', () => upstream.destroy());
    sockets.add(socket);
  });
  const sockets = new Set<{ destroy(): unknown }>();
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    address: `127.0.0.1:${port}`,
    asked,
    async [Symbol.asyncDispose]() {
      for (const socket of sockets) socket.destroy();
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}
