import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { openEndpoints } from '@waybell/deliverer/request/call-endpoint';
import { attempting } from '@waybell/deliverer/testing/attempting';
import { anAuthority, type Certificate } from '@waybell/deliverer/testing/certificate';
import { aDelivery } from '@waybell/deliverer/testing/delivery';
import { readNetworks } from '@waybell/runtime/forbidden-address';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { firstExecutable, foldersOnPath } from '@waybell/stack/first-executable';
import { freePort } from '@waybell/stack/free-port';
import { installPackages } from '@waybell/stack/install-packages';
import { reaches } from '@waybell/stack/reaches';
import { STARTING_LIMIT_MS, SupervisedProcess } from '@waybell/stack/supervised-process';

const LONG_MS = 60_000;
const DAY_MS = 86_400_000;
const authority = anAuthority('Authority of receivers');
const clients = anAuthority('Authority of clients');
const revoked = clients.issue({ name: 'revoked' });
const refused: [string, Certificate | undefined][] = [
  ['none', undefined],
  ['one of another authority', anAuthority('Another').issue({ name: 'other' })],
  ['one that is over', clients.issue({ name: 'over', notAfter: new Date(wallClockMs() - DAY_MS) })],
  ['one that is revoked', revoked],
];

const authorities = tls.getCACertificates('default');
let folder: string;
beforeAll(async () => {
  tls.setDefaultCACertificates([...authorities, authority.cert]);
  folder = await mkdtemp(join(tmpdir(), 'waybell-openssl-'));
  const { cert, key } = authority.issue({ name: 'localhost' });
  const files = { 'receiver.pem': cert + key, 'clients.pem': clients.cert, 'revoked.pem': clients.revoke(revoked) };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});
afterAll(async () => {
  tls.setDefaultCACertificates(authorities);
  await rm(folder, { recursive: true });
});

/** OpenSSL's own server, which ends the handshake by the alert that fits: Node.js and nginx do not. */
async function serve(version: string): Promise<AsyncDisposable & { port: number }> {
  const port = await freePort({ taken: new Set() });
  const asked = ['-Verify', '2', '-verify_return_error', '-CAfile', 'clients.pem', '-crl_check', '-CRL', 'revoked.pem'];
  const process = new SupervisedProcess(
    {
      name: 'openssl',
      role: 'server',
      command: await binary(),
      args: ['s_server', '-accept', `127.0.0.1:${port}`, '-cert', 'receiver.pem', `-${version}`, '-www', ...asked],
      env: {},
      cwd: folder,
      logFile: join(folder, 'openssl.log'),
      address: `127.0.0.1:${port}`,
      waitsFor: async () => ((await reaches({ host: '127.0.0.1', port })) ? undefined : 'its port'),
      readyMs: STARTING_LIMIT_MS,
      graceMs: 10_000,
    },
    { restart: 'never', onEvent: () => undefined },
  );
  await process.start();
  return { port, [Symbol.asyncDispose]: () => process.stop() };
}

async function attempt(port: number, certificate: Certificate | undefined) {
  await using endpoints = openEndpoints({
    limits: { shipper: { responseMs: LONG_MS }, carrier: { responseMs: LONG_MS } },
    networks: readNetworks(['127.0.0.0/8', '::1/128']),
    connectTimeoutMs: LONG_MS,
    keepAliveMs: 2 * LONG_MS,
    userAgent: 'Waybell',
  });
  const shown = certificate && { certificate: { guid: 'g', chain: certificate.cert, key: certificate.key } };
  return await attempting(endpoints.callEndpoint)({
    delivery: aDelivery(),
    callbackUrl: `https://localhost:${port}/`,
    verificationToken: '',
    signingSecrets: [],
    credentials: { guid: 'g', headers: {}, secrets: [], ...shown },
  });
}

describe.each(['tls1_2', 'tls1_3'])('OpenSSL by %s', (version) => {
  test.each(refused)('refuses %s by an alert, which is read as its reason', async (_, certificate) => {
    await using server = await serve(version);
    const result = await attempt(server.port, certificate);
    const isTold = version === 'tls1_3' || certificate !== undefined;
    const how = isTold
      ? { reason: 'tls_certificate_required', lostAt: undefined }
      : { reason: 'tls_failed', lostAt: 'connecting' };
    expect({ lostAt: undefined, ...result }).toMatchObject({ isDelivered: false, ...how });
  });
});

async function binary(): Promise<string> {
  const find = () => firstExecutable('openssl', foldersOnPath());
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const found = find() ?? ((await installPackages(['openssl'], report)) ? find() : undefined);
  if (found === undefined) throw new Error('this test needs openssl, and cannot install it');
  return found;
}
