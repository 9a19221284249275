import { randomBytes } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { anAuthority, type Certificate } from '@waybell/runtime/testing/certificate';
import { until } from '@waybell/runtime/testing/until';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { openCaller } from '@waybell/deliverer/testing/caller';
import { openedByEach, trusted } from '@waybell/runtime/testing/shared';
import { startNginx, type Nginx } from '../testing/nginx.ts';

const DAY_MS = 86_400_000;
const authority = anAuthority('Authority of receivers');
const clients = anAuthority('Authority of clients');
const of = {
  one: clients.issue({ name: 'one' }),
  two: clients.issue({ name: 'two' }),
  revoked: clients.issue({ name: 'revoked' }),
  over: clients.issue({ name: 'over', notAfter: new Date(wallClockMs() - DAY_MS) }),
  other: anAuthority('Another').issue({ name: 'other' }),
};

const SHOWING = `location / { return 200 "$ssl_client_verify $ssl_client_s_dn"; }`;
const REQUIRING = `ssl;
  ssl_certificate $folder/receiver.pem; ssl_certificate_key $folder/receiver.key; ssl_session_ticket_key $folder/tickets;
  ssl_session_cache shared:receivers:1m; ssl_client_certificate $folder/clients.pem;`;

const servers = (version: string) => [
  `${REQUIRING} ssl_protocols ${version}; ssl_verify_client on; ssl_crl $folder/revoked.pem; ${SHOWING}`,
  `${REQUIRING} ssl_protocols ${version}; ssl_verify_client optional; ${SHOWING}`,
  `ssl; ssl_certificate $folder/receiver.pem; ssl_certificate_key $folder/receiver.key;
   location /header { if ($http_x_api_key != "the key") { return 401; } return 200 "by header"; }
   location /basic { auth_basic "receiver"; auth_basic_user_file $folder/users; proxy_pass http://127.0.0.1:$port3; }`,
  `; location / { return 200 "by basic"; }`,
];

const opened = openedByEach();
trusted(authority.cert);

async function nginx(version = 'TLSv1.2 TLSv1.3'): Promise<Nginx> {
  const { cert, key } = authority.issue({ name: 'localhost' });
  const files = {
    'receiver.pem': cert,
    'receiver.key': key,
    'clients.pem': clients.cert,
    'revoked.pem': clients.revoke(of.revoked),
    tickets: randomBytes(60).toString('base64'),
    users: 'platform:{PLAIN}the password\n',
  };
  const started = await startNginx({ files, servers: servers(version) });
  opened.push(started);
  return started;
}

type Calling = { path?: string; headers?: Record<string, string>; certificate?: Certificate };

/** Closes each connection soon after its request. */
function caller() {
  const made = openCaller({ keepAliveMs: 1 });
  opened.push(made);
  return (port: number | undefined, { path = '/', headers = {}, certificate }: Calling = {}) => {
    const guid = `guid of ${certificate?.cert}`;
    const shown = certificate && { certificate: { guid, chain: certificate.cert, key: certificate.key } };
    return made.call(`https://localhost:${port}${path}`, {
      verificationToken: 'token',
      credentials: { guid, headers, secrets: [], ...shown },
    });
  };
}

describe.each(['TLSv1.2', 'TLSv1.3'])('nginx by %s', (version) => {
  test('takes certificates of its authority, and says of others by 400 what it lacks', async () => {
    const {
      ports: [requiring, optional],
    } = await nginx(version);
    const call = caller();
    const refused = (body: RegExp) => ({ status: 400, reason: 'http_4xx', body: expect.stringMatching(body) });
    for (const name of ['one', 'two', 'one'] as const)
      expect(await call(requiring, { certificate: of[name] })).toMatchObject({ body: `SUCCESS CN=${name}` });
    expect(await call(requiring)).toMatchObject(refused(/No required SSL certificate was sent/));
    for (const name of ['other', 'over', 'revoked'] as const)
      expect(await call(requiring, { certificate: of[name] })).toMatchObject(refused(/SSL certificate error/));
    expect(await call(optional)).toMatchObject({ body: 'NONE ' });
    expect(await call(optional, { certificate: of.one })).toMatchObject({ body: 'SUCCESS CN=one' });
    expect(await call(optional, { certificate: of.other })).toMatchObject(refused(/SSL certificate error/));
  });

  test('takes a certificate as soon as it is no longer revoked, though a resumed connection would still be refused', async () => {
    const { ports, reload } = await nginx(version);
    const call = caller();
    for (let each = 0; each < 3; each += 1)
      expect(await call(ports[0], { certificate: of.revoked })).toMatchObject({ status: 400 });
    reload('revoked.pem', clients.revoke());
    await until('it takes it', async () => (await call(ports[0], { certificate: of.revoked })).status === 200);
  });
});

test('nginx takes a header, and the password of a user', async () => {
  const {
    ports: [, , port],
  } = await nginx();
  const call = caller();
  const authorization = (password: string) => `Basic ${Buffer.from(`platform:${password}`).toString('base64')}`;
  expect(await call(port, { path: '/header', headers: { 'X-Api-Key': 'the key' } })).toMatchObject({
    body: 'by header',
  });
  expect(await call(port, { path: '/header', headers: { 'X-Api-Key': 'another' } })).toMatchObject({ status: 401 });
  expect(await call(port, { path: '/basic', headers: { authorization: authorization('the password') } })).toMatchObject(
    { body: 'by basic' },
  );
  expect(await call(port, { path: '/basic', headers: { authorization: authorization('another') } })).toMatchObject({
    status: 401,
  });
});
