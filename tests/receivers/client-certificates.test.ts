import { createPrivateKey, generateKeyPairSync, X509Certificate, type KeyObject } from 'node:crypto';
import { describe, expect, test } from '@jest/globals';
import { anAuthority, aSelfSignedCertificate } from '@waybell/runtime/testing/certificate';
import { wallClockMs } from '@waybell/runtime/testing/wall-clock';
import { readCertificate } from '@waybell/subscription-api/rest/credentials/read-certificate';

const DAY_MS = 86_400_000;
const now = wallClockMs();
const inDays = (days: number) => new Date(now + days * DAY_MS);

const root = anAuthority('Test root');
const between = root.authority('Test authority');
const other = anAuthority('Another authority');
const client = between.issue({ name: 'client.example', notAfter: inDays(90) });
const renewed = between.issue({ name: 'client.example' });

const read = (given: { chain: string; key: string }, nowMs = now) => readCertificate(given, nowMs);
const pem = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });
const rsa = (modulusLength: number) => generateKeyPairSync('rsa', { modulusLength });
const locked = (type: 'pkcs1' | 'pkcs8') =>
  rsa(2_048).privateKey.export({ type, format: 'pem', cipher: 'aes-256-cbc', passphrase: 'p4ss' });

/** One of the authority, with its key. */
function issued(subject: Omit<Parameters<typeof between.issue>[0], 'name'>): { chain: string; key: string } {
  const { cert, key } = between.issue({ name: 'client.example', ...subject });
  return { chain: cert, key };
}

const whole = client.cert + between.cert;
const ofKeys = (pair: { publicKey: KeyObject; privateKey: KeyObject }) => issued({ pair });

/** OpenSSL signs by it without its factors, as what is to be their remainder is wrong. */
function ofSlowKey(): { chain: string; key: string } {
  const { publicKey, privateKey } = rsa(2_048);
  const jwk = privateKey.export({ format: 'jwk' });
  return ofKeys({ publicKey, privateKey: createPrivateKey({ format: 'jwk', key: { ...jwk, dp: 'BQ' } }) });
}

describe('a certificate for TLS client authentication', () => {
  test('is kept with its chain and key, and what may be told of it is told', () => {
    expect(read({ chain: whole, key: client.key })).toEqual({
      certificate: { chain: whole, key: client.key },
      shown: {
        subject: 'CN=client.example',
        issuer: 'CN=Test authority',
        not_before: expect.stringMatching(/^\d{4}-\d\d-\d\dT[\d:.]+Z$/),
        not_after: new Date(Math.floor(inDays(90).getTime() / 1_000) * 1_000).toISOString(),
        fingerprint: new X509Certificate(client.cert).fingerprint256,
      },
    });
  });

  test.each<[how: string, given: { chain: string; key: string }]>([
    ['by itself', { chain: client.cert, key: client.key }],
    ['with its root', { chain: whole + root.cert, key: client.key }],
    ['that signed itself', (({ cert, key }) => ({ chain: cert, key }))(aSelfSignedCertificate({ name: 'client' }))],
    ['for clients alone', issued({ purpose: 'clientAuth' })],
    ['that begins within the hour', issued({ notBefore: new Date(now + 1_800_000), notAfter: inDays(9) })],
    ['of RSA with 2,048 bits', ofKeys(rsa(2_048))],
    ['of RSA with 4,096 bits', ofKeys(rsa(4_096))],
    ['of P-384', ofKeys(generateKeyPairSync('ec', { namedCurve: 'P-384' }))],
    ['of Ed25519', ofKeys(generateKeyPairSync('ed25519'))],
  ])('is taken %s', (_how, given) => {
    expect(read(given)).toMatchObject({ certificate: { key: given.key } });
  });

  test('is kept as one would write it, however it was written, and nothing beside it', () => {
    const oneLine = (text: string) => text.replaceAll('\n', String.raw`\n`);
    const given = { chain: `${client.key}subject=client\n${client.cert}${between.cert}`, key: oneLine(client.key) };
    expect(read(given)).toMatchObject({ certificate: { chain: whole, key: client.key } });
  });

  test.each<[what: string, given: { chain: string; key: string }, at: string, why: string]>([
    ['is no PEM', { chain: 's3cret', key: client.key }, 'chain', 'holds something else: give a certificate in PEM'],
    ['is a path', { chain: '/etc/hostname', key: client.key }, 'chain', 'holds something else'],
    ['is the address of a file', { chain: 'file:///etc/hostname', key: client.key }, 'chain', 'holds something else'],
    ['is a key', { chain: client.key, key: client.key }, 'chain', 'holds PRIVATE KEY: give a certificate'],
    ['is cut', { chain: client.cert.slice(0, 300), key: client.key }, 'chain', 'is cut or damaged'],
    ['is over', issued({ notAfter: inDays(-1) }), 'chain', 'ended at'],
    ['is not valid yet', issued({ notBefore: inDays(1), notAfter: inDays(9) }), 'chain', 'on: put it in then'],
    ['is for servers alone', issued({ purpose: 'serverAuth' }), 'chain', 'extended key usage clientAuth'],
    ['is of a weak key', ofKeys(rsa(1_024)), 'chain', 'too weak'],
    ['is of a rare curve', ofKeys(generateKeyPairSync('ec', { namedCurve: 'secp256k1' })), 'chain', 'do not take'],
    [
      'comes after its issuer',
      { chain: between.cert + client.cert, key: client.key },
      'chain',
      'is not in order: certificate 2 did not issue certificate 1. Begin with that of the key',
    ],
    ['is of another issuer', { chain: client.cert + other.cert, key: client.key }, 'chain', 'is not in order'],
    [
      'is of an issuer by name alone',
      { chain: client.cert + anAuthority('Test authority').cert, key: client.key },
      'chain',
      'is not in order',
    ],
    ['is one of many', { chain: whole + root.cert.repeat(9), key: client.key }, 'chain', 'more than 10 certificates'],
    ['is of a key that takes long to sign by', ofKeys(rsa(4_224)), 'chain', 'too large'],
    ['has a key whose numbers do not fit', ofSlowKey(), 'key', 'do not belong together'],
    ['has the key of another', { chain: whole, key: renewed.key }, 'key', 'is not the key of the certificate'],
    [
      'has the key of its issuer',
      { chain: whole, key: between.key },
      'key',
      'is that of certificate 2 of the chain: put that certificate first',
    ],
    ['has no key', { chain: whole, key: '' }, 'key', 'is empty: give a private key in PEM'],
    ['has a path for a key', { chain: whole, key: '/etc/hostname' }, 'key', 'holds something else'],
    ['has a locked key', { chain: whole, key: locked('pkcs8') }, 'key', 'without one (openssl pkey -in <file>)'],
    ['has an old locked key', { chain: whole, key: locked('pkcs1') }, 'key', 'without one (openssl pkey -in <file>)'],
    ['has two keys', { chain: whole, key: client.key + renewed.key }, 'key', 'holds several private keys'],
    ['has a public key', { chain: whole, key: '-----BEGIN PUBLIC KEY-----\ns3cret' }, 'key', 'holds PUBLIC KEY'],
  ])('that %s is refused, and told what to do instead', (_what, given, at, why) => {
    const found = read(given);
    expect(found).toEqual({ faults: [{ pointer: `#/certificate/${at}`, detail: expect.stringContaining(why) }] });
    for (const line of `${given.chain}\n${given.key}`.split('\n').filter((each) => /^[\w+/=]{6,}$/.test(each)))
      expect(JSON.stringify(found)).not.toContain(line);
  });

  test('is refused at the moment at which it ends, or one of its issuers does', () => {
    const endMs = Date.parse(new X509Certificate(between.cert).validTo);
    expect(read({ chain: whole, key: client.key }, endMs - 1)).not.toHaveProperty('faults');
    const [fault] = (read({ chain: whole, key: client.key }, endMs) as { faults: { detail: string }[] }).faults;
    expect(fault?.detail).toMatch(/^holds a certificate, number 2 of 2, that ended at .+: give one that is valid$/);
  });

  test('is told of both its faults at once', () => {
    const [ofChain, ofKey] = (read({ chain: '', key: pem(rsa(1_024).privateKey).slice(0, 99) }) as { faults: object[] })
      .faults;
    expect([ofChain, ofKey]).toMatchObject([{ pointer: '#/certificate/chain' }, { pointer: '#/certificate/key' }]);
  });
});
