import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import tls from 'node:tls';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { startProgram } from '../testing/start-program.ts';
import { anAuthority, type Certificate } from '@waybell/runtime/testing/certificate';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { firstExecutable, foldersOnPath, installPackages } from '@waybell/stack/programs';
import { freePort } from '@waybell/stack/ports';
import { openCaller } from '@waybell/deliverer/testing/caller';

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
  // Apache looks into it by another user.
  await chmod(folder, 0o755);
  const { cert, key } = authority.issue({ name: 'localhost' });
  const files = { 'receiver.pem': cert + key, 'clients.pem': clients.cert, 'revoked.pem': clients.revoke(revoked) };
  for (const [name, content] of Object.entries(files)) await writeFile(join(folder, name), content);
});
afterAll(async () => {
  tls.setDefaultCACertificates(authorities);
  await rm(folder, { recursive: true });
});

type Serving = AsyncDisposable & { port: number };

/** OpenSSL's own server, which ends the handshake by the alert that fits: Node.js and nginx do not. */
function openssl(version: string): Promise<Serving> {
  const asked = ['-Verify', '2', '-verify_return_error', '-CAfile', 'clients.pem', '-crl_check', '-CRL', 'revoked.pem'];
  const args = ['s_server', '-cert', 'receiver.pem', `-${version}`, '-www', ...asked, '-accept'];
  return serve('openssl', (port) => [...args, `127.0.0.1:${port}`]);
}

/** Apache, which asks for a certificate where a path wants one: by TLS 1.3 after the handshake. */
async function apache(protocol: string): Promise<Serving> {
  const modules = ['mpm_event', 'authz_core', 'authn_core', 'ssl', 'socache_shmcb', 'alias'];
  const lines = (port: number) => [
    `ServerRoot ${folder}\nPidFile ${folder}/apache.pid\nErrorLog ${folder}/apache.log\nDocumentRoot ${folder}`,
    ...modules.map((name) => `LoadModule ${name}_module /usr/lib/apache2/modules/mod_${name}.so`),
    ...(process.getuid?.() === 0 ? ['User www-data\nGroup www-data'] : []),
    `Listen 127.0.0.1:${port}\nServerName localhost\nSSLEngine on\nSSLProtocol ${protocol}`,
    `SSLCertificateFile ${folder}/receiver.pem\nSSLCACertificateFile ${folder}/clients.pem`,
    '<Location /hook>\nSSLVerifyClient require\nRedirect 204 /hook\n</Location>',
  ];
  return serve('apache2', async (port) => {
    await writeFile(join(folder, 'apache.conf'), `${lines(port).join('\n')}\n`);
    return ['-D', 'FOREGROUND', '-f', join(folder, 'apache.conf')];
  });
}

async function serve(name: string, argsFor: (port: number) => string[] | Promise<string[]>): Promise<Serving> {
  const port = await freePort({ taken: new Set() });
  const args = await argsFor(port);
  const process = await startProgram({ name, command: await binary(name), args, cwd: folder, port });
  return { port, [Symbol.asyncDispose]: () => process.stop() };
}

async function attempt(port: number, certificate: Certificate | undefined, path = '/') {
  await using caller = openCaller();
  const shown = certificate && { certificate: { guid: 'g', chain: certificate.cert, key: certificate.key } };
  return await caller.call(`https://localhost:${port}${path}`, {
    credentials: { guid: 'g', headers: {}, secrets: [], ...shown },
  });
}

describe.each(['tls1_2', 'tls1_3'])('OpenSSL by %s', (version) => {
  test.each(refused)('refuses %s by an alert, which is read as its reason', async (_, certificate) => {
    await using server = await openssl(version);
    const result = await attempt(server.port, certificate);
    const isTold = version === 'tls1_3' || certificate !== undefined;
    const how = isTold
      ? { reason: 'tls_certificate_required', lostAt: undefined }
      : { reason: 'tls_failed', lostAt: 'connecting' };
    expect({ lostAt: undefined, ...result }).toMatchObject({ isDelivered: false, ...how });
  });
});

describe('Apache, which wants a certificate for a path alone', () => {
  const certificate = clients.issue({ name: 'one' });

  test.each(['all', 'TLSv1.2'])('is shown one, whatever TLS it speaks: %s', async (protocol) => {
    await using server = await apache(protocol);
    expect(await attempt(server.port, certificate, '/hook')).toMatchObject({ isDelivered: true, status: 204 });
  });

  test('says why it refuses who has none', async () => {
    await using server = await apache('all');
    const refusal = await attempt(server.port, undefined, '/hook');
    expect(refusal).toMatchObject({ status: 403, body: expect.stringMatching(/^403 Forbidden.*Post-Handshake/) });
  });
});

async function binary(name: string): Promise<string> {
  const find = () => firstExecutable(name, [...foldersOnPath(), '/usr/sbin']);
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const found = find() ?? ((await installPackages([name], report)) ? find() : undefined);
  if (found === undefined) throw new Error(`this test needs ${name}, and cannot install it`);
  return found;
}
