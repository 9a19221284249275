import { generateKeyPairSync, X509Certificate } from 'node:crypto';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { rootCertificates } from 'node:tls';
import { pathToFileURL } from 'node:url';
import { describe, expect, test } from '@jest/globals';
import { certificates, privateKey } from './pem.ts';
import { InvalidEnvironment, readEnvironment, requireExtraAuthorities } from './environment.ts';
import { sharedFolder } from './testing/shared.ts';

const [one = '', other = ''] = rootCertificates.map((each) => new X509Certificate(each).toString());
const { privateKey: pair } = generateKeyPairSync('ec', { namedCurve: 'P-256' });
const key = pair.export({ type: 'pkcs8', format: 'pem' });

const folder = sharedFolder('pem');
const write = (name: string, content: string | Buffer) => {
  writeFileSync(join(folder, name), content);
  return join(folder, name);
};

const read = (env: Record<string, string>) =>
  readEnvironment({ CA: certificates({ default: '' }), KEY: privateKey({ default: '' }) }, env);

describe('certificates', () => {
  test.each<[how: string, text: string]>([
    ['in lines', one],
    ['with \\n for line ends', one.replaceAll('\n', String.raw`\n`)],
    ['with \\r\\n for line ends', one.replaceAll('\n', String.raw`\r\n`)],
    ['with \\\\n for line ends', one.replaceAll('\n', String.raw`\\n`)],
    ['with the line ends of Windows', one.replaceAll('\n', '\r\n')],
    ['in one line', one.replaceAll('\n', ' ')],
    ['indented', one.replaceAll('\n', '\n    ')],
    ['in quotes', `"${one}" `],
    ['in other quotes', `'${one.replaceAll('\n', String.raw`\n`)}'`],
    ['in base64', Buffer.from(one).toString('base64')],
    ['after a mark', `\ufeff${one}`],
    ['with what openssl tells of them', `subject=CN = a\n${one}`],
    ['by a path', write('ca.pem', one)],
    ['by the address of a file', pathToFileURL(write('ca with blank.pem', one.replaceAll('\n', '\r\n'))).href],
  ])('%s are read', (_how, text) => {
    expect(read({ CA: text }).CA).toBe(one);
    expect(read({ CA_FILE: write('given', text) }).CA).toBe(one);
  });

  test('may be several, and a key beside them is left out', () => {
    expect(read({ CA: `${one}${key}${other}` }).CA).toBe(one + other);
  });

  const der = new X509Certificate(one).raw;
  test.each<[what: string, env: Record<string, string>, why: string]>([
    ['no PEM', { CA: 's3cret' }, 'CA: holds something else: give a certificate in PEM'],
    ['a relative path', { CA: 'certs/s3cret.pem' }, 'CA: holds something else: give a certificate in PEM'],
    ['a key', { CA: key }, 'CA: holds PRIVATE KEY: give a certificate in PEM'],
    ['a path that leads nowhere', { CA: '/none/ca.pem' }, 'CA: "/none/ca.pem" cannot be read: there is no such file'],
    ['a folder', { CA_FILE: folder }, `CA_FILE: "${folder}" cannot be read: it is a folder`],
    ['no file', { CA_FILE: '/none' }, 'CA_FILE: "/none" cannot be read: there is no such file'],
    ['an empty file', { CA_FILE: write('empty', '') }, 'CA_FILE: is empty: give a certificate in PEM'],
    ['a blank file', { CA: write('blank', ' \n') }, 'CA: is empty: give a certificate in PEM'],
    ['DER', { CA_FILE: write('der', der) }, 'CA_FILE: holds DER: convert it to PEM (openssl x509 -inform der)'],
    ['a cut one', { CA: one.slice(0, 400) }, 'CA: holds a certificate that is cut or damaged: give it whole'],
    ['a bad one', { CA: one + other.replace('MII', 'MIJ') }, 'CA: holds a certificate that is cut or damaged (2 of 2)'],
  ])('that are %s are refused by the name of the setting', (_what, env, why) => {
    expect(() => read(env)).toThrow(InvalidEnvironment);
    expect(() => read(env)).toThrow(why);
    expect(() => read(env)).not.toThrow('s3cret');
  });
});

describe('a private key', () => {
  const old = generateKeyPairSync('rsa', { modulusLength: 1_024 }).privateKey;
  const locked = { cipher: 'aes-128-cbc', passphrase: 'p' } as const;

  test.each<[how: string, text: string]>([
    ['PKCS #8', key],
    ['PKCS #1', old.export({ type: 'pkcs1', format: 'pem' })],
    ['SEC 1', pair.export({ type: 'sec1', format: 'pem' })],
  ])('by %s is read, with \\n for line ends too', (_how, text) => {
    expect(read({ KEY: text.replaceAll('\n', String.raw`\n`) }).KEY).toBe(text);
  });

  test.each<[what: string, text: string, why: string]>([
    ['a certificate', one, 'KEY: holds CERTIFICATE: give a private key in PEM'],
    ['locked', pair.export({ type: 'pkcs8', format: 'pem', ...locked }), 'KEY: holds a private key with a'],
    ['locked, the old way', old.export({ type: 'pkcs1', format: 'pem', ...locked }), 'with a passphrase'],
    ['DER', write('key.der', pair.export({ type: 'pkcs8', format: 'der' })), 'KEY: holds DER'],
    ['damaged', key.replace(/\nM.{9}/, '\nMAAAAAAAAA'), 'KEY: holds a private key that is cut or damaged'],
  ])('that is %s is refused', (_what, text, why) => {
    expect(() => read({ KEY: text })).toThrow(why);
  });
});

describe('NODE_EXTRA_CA_CERTS', () => {
  test('has to be the path of a file with certificates: without them, receivers would seem to be at fault', () => {
    const checked = (NODE_EXTRA_CA_CERTS: string) => () => requireExtraAuthorities({ NODE_EXTRA_CA_CERTS });
    expect(checked(write('extra', one + other))).not.toThrow();
    expect(checked('')).not.toThrow();
    expect(checked('/none')).toThrow('NODE_EXTRA_CA_CERTS: "/none" cannot be read: there is no such file');
    expect(checked(write('none', 'x'))).toThrow('NODE_EXTRA_CA_CERTS: holds something else');
    expect(checked(one)).toThrow('NODE_EXTRA_CA_CERTS: holds certificates: write them to a file');
  });
});
