import { execFile } from 'node:child_process';
import { globSync, readFileSync, writeFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { afterAll, describe, expect, test } from '@jest/globals';
import { readEnvironment } from '@waybell/runtime/environment';
import { brokerAddress } from '@waybell/runtime/server-address';
import { brokerSettings } from '@waybell/runtime/settings';
import { repository } from '@waybell/stack/stack-folder';
import { anAuthority, aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { tlsServer } from '@waybell/runtime/testing/server';

type Weakness = { what: string; sign: RegExp; except: RegExp };

const TESTS = /^tests\/|\.test\.ts$|\/testing\//;
const NOWHERE = /^$/;

/** Settings that disable the check of a certificate, or permit an old protocol; and the files that may have them. */
const weaknesses: Weakness[] = [
  // The exception has receivers that ask for certificates of clients and require none.
  {
    what: 'no check of certificates',
    sign: /rejectUnauthorized(?!: true\b)/,
    except: /^services\/deliverer\/request\/client-certificates\.test\.ts$/,
  },
  // The exception is where it is refused.
  { what: "Node's variable for that", sign: /NODE_TLS_REJECT/, except: /^libs\/runtime\/environment\.(test\.)?ts$/ },
  { what: 'a check of names of its own', sign: /checkServerIdentity/, except: NOWHERE },
  { what: 'another word for that', sign: /strict-?ssl|--insecure|no-verify/i, except: TESTS },
  { what: 'an old protocol', sign: /TLSv1(\.1)?['"]|tls-min-v1\.[01]|secureProtocol|SSLv[23]/, except: TESTS },
  { what: 'weak ciphers', sign: /SECLEVEL|secureOptions|\bciphers\b/, except: TESTS },
];

const sources = globSync(
  [
    '{bench,cli,deploy,libs,services,tests}/**/*.{ts,js,mjs,json,yml,toml,conf}',
    '{*.{js,json,yml,yaml},waybell,.npmrc,.ci/*,deploy/Dockerfile}',
  ],
  { cwd: repository, exclude: ['**/node_modules/**', 'pnpm-lock.yaml', 'tests/repository/nothing-weakens.test.ts'] },
);

describe('the code', () => {
  test.each(weaknesses)('has $what nowhere but where that is refused or tried', ({ sign, except }) => {
    const found = sources.filter(
      (path) => !except.test(path) && sign.test(readFileSync(join(repository, path), 'utf8')),
    );
    expect(found).toEqual([]);
  });

  test('is looked through', () => {
    expect(sources).toEqual(expect.arrayContaining(['services/deliverer/request/connect.ts', 'docker-compose.yml']));
  });
});

describe('a certificate of our own', () => {
  test('is shown with its key, as settings give them', () => {
    const { cert, key } = aSelfSignedCertificate({ name: 'waybell' });
    const inOneLine = (pem: string) => pem.replaceAll('\n', String.raw`\n`);
    const given = { AMQP_URL: 'amqps://host', TLS_CERTIFICATE: inOneLine(cert), TLS_KEY: inOneLine(key) };
    expect(brokerAddress(readEnvironment(brokerSettings, given)).tls).toEqual({ cert, key });
  });
});

describe('a callback, whatever Node.js is told,', () => {
  const folder = mkdtempSync(join(tmpdir(), 'waybell-tls-'));
  afterAll(() => rmSync(folder, { recursive: true }));
  const authority = anAuthority('Test authority');
  const good = authority.issue({ name: 'localhost' });
  const trusting = { NODE_EXTRA_CA_CERTS: join(folder, 'ca.pem') };
  writeFileSync(trusting.NODE_EXTRA_CA_CERTS, authority.cert);
  const blind = { NODE_TLS_REJECT_UNAUTHORIZED: '0', NODE_NO_WARNINGS: '1' };

  async function call(url: string, env: Record<string, string>): Promise<string> {
    const program = join(repository, 'tests/repository/call-receiver.ts');
    const { stdout } = await promisify(execFile)(
      process.execPath,
      ['--tls-min-v1.0', '--tls-cipher-list=DEFAULT@SECLEVEL=0', program, url],
      { env },
    );
    return stdout.trim();
  }

  test('is sent by TLS 1.2 to whom an authority vouches for', async () => {
    await using receiver = await tlsServer({ ...good, maxVersion: 'TLSv1.2' }, (_, response) => response.end());
    expect(await call(receiver.url, trusting)).toBe('delivered');
  });

  test('is not sent to a server that no authority vouches for', async () => {
    await using receiver = await tlsServer(aSelfSignedCertificate({ name: 'localhost' }), (_, response) =>
      response.end(),
    );
    expect(await call(receiver.url, blind)).toBe('tls_untrusted');
  });

  test('is not sent to another name', async () => {
    const other = authority.issue({ name: 'other.example.com' });
    await using receiver = await tlsServer(other, (_, response) => response.end());
    expect(await call(receiver.url, { ...trusting, ...blind })).toBe('tls_name');
  });

  test('is not sent by TLS 1.1', async () => {
    const old = { ...good, minVersion: 'TLSv1', maxVersion: 'TLSv1.1', ciphers: 'DEFAULT@SECLEVEL=0' } as const;
    await using receiver = await tlsServer(old, (_, response) => response.end());
    expect(await call(receiver.url, trusting)).toBe('tls_failed');
  });
});
