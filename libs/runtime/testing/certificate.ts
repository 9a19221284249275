/** X.509 certificates for tests, signed on the spot: DER written by hand, because Node reads certificates only. */
import { generateKeyPairSync, randomBytes, sign, X509Certificate, type KeyObject } from 'node:crypto';
import { wallClockMs } from './wall-clock.ts';

export type Certificate = { cert: string; key: string };
export type Authority = Certificate & {
  issue(what: Subject): Certificate;
  /** An authority that this one vouches for. */
  authority(name: string): Authority;
  /** A list of certificates that are revoked, in PEM. */
  revoke(...certificates: Certificate[]): string;
};
export type Subject = {
  name: string;
  notBefore?: Date;
  notAfter?: Date;
  /** The purpose of the certificate, if it states one: `clientAuth` or `serverAuth`. */
  purpose?: keyof typeof PURPOSES;
  pair?: KeyPair;
};
type KeyPair = { publicKey: KeyObject; privateKey: KeyObject };

const DAY_MS = 86_400_000;

/** An authority of its own, whose certificates hold for a DNS name and, unless said otherwise, from now on. */
export function anAuthority(name: string, above?: { name: string; signer: KeyObject }): Authority {
  const { publicKey, privateKey } = aKeyPair();
  const [issuer, signer] = [above?.name ?? name, above?.signer ?? privateKey];
  const cert = write({ name, publicKey, extensions: [IS_AUTHORITY], issuer, signer });
  return {
    cert,
    key: pemOf(privateKey),
    authority: (below) => anAuthority(below, { name, signer: privateKey }),
    issue(subject) {
      const pair = subject.pair ?? aKeyPair();
      const extensions = [validFor(subject.name), ...(subject.purpose ? [onlyFor(subject.purpose)] : [])];
      const issued = write({ ...subject, publicKey: pair.publicKey, extensions, issuer: name, signer: privateKey });
      return { cert: issued, key: pemOf(pair.privateKey) };
    },
    revoke: (...revoked) => revocationList({ revoked, issuer: name, signer: privateKey }),
  };
}

/** A self-signed certificate. */
export function aSelfSignedCertificate(subject: Subject): Certificate {
  const { publicKey, privateKey } = aKeyPair();
  const extensions = [validFor(subject.name)];
  const cert = write({ ...subject, publicKey, extensions, issuer: subject.name, signer: privateKey });
  return { cert, key: pemOf(privateKey) };
}

const aKeyPair = (): KeyPair => generateKeyPairSync('ec', { namedCurve: 'P-256' });
const pemOf = (key: KeyObject) => key.export({ type: 'pkcs8', format: 'pem' });

type Contents = Subject & { publicKey: KeyObject; extensions: Buffer[]; issuer: string; signer: KeyObject };

function write({ name, notBefore, notAfter, publicKey, extensions, issuer, signer }: Contents): string {
  const from = notBefore ?? new Date(Math.min(wallClockMs(), notAfter?.getTime() ?? Infinity) - DAY_MS);
  const until = notAfter ?? new Date(wallClockMs() + DAY_MS);
  const signed = sequence(
    der(0xa0, der(0x02, Buffer.from([2]))),
    der(0x02, Buffer.concat([Buffer.from([1]), randomBytes(8)])),
    ECDSA_WITH_SHA256,
    distinguished(issuer),
    sequence(utcTime(from), utcTime(until)),
    distinguished(name),
    publicKey.export({ type: 'spki', format: 'der' }),
    der(0xa3, sequence(...extensions)),
  );
  return signedPem('CERTIFICATE', signed, signer);
}

type Revoking = { revoked: Certificate[]; issuer: string; signer: KeyObject };

function revocationList({ revoked, issuer, signer }: Revoking): string {
  const now = wallClockMs();
  const since = utcTime(new Date(now - DAY_MS));
  const serials = revoked.map(({ cert }) => Buffer.from(new X509Certificate(cert).serialNumber, 'hex'));
  const entries = serials.map((serial) => sequence(der(0x02, serial), since));
  const list = [distinguished(issuer), since, utcTime(new Date(now + DAY_MS)), sequence(...entries)];
  return signedPem('X509 CRL', sequence(der(0x02, Buffer.from([1])), ECDSA_WITH_SHA256, ...list), signer);
}

function signedPem(label: string, signed: Buffer, signer: KeyObject): string {
  const signature = der(0x03, Buffer.from([0]), sign('sha256', signed, signer));
  const bytes = sequence(signed, ECDSA_WITH_SHA256, signature).toString('base64');
  return `-----BEGIN ${label}-----\n${bytes.match(/.{1,64}/g)?.join('\n')}\n-----END ${label}-----\n`;
}

function der(tag: number, ...contents: Buffer[]): Buffer {
  const content = Buffer.concat(contents);
  const { length } = content;
  const size = length < 0x80 ? [length] : length < 0x100 ? [0x81, length] : [0x82, length >> 8, length & 0xff];
  return Buffer.concat([Buffer.from([tag, ...size]), content]);
}

const sequence = (...contents: Buffer[]) => der(0x30, ...contents);
const oid = (hex: string) => der(0x06, Buffer.from(hex, 'hex'));
const ECDSA_WITH_SHA256 = sequence(oid('2a8648ce3d040302'));
const COMMON_NAME = oid('550403');
const SUBJECT_ALT_NAME = oid('551d11');
const EXTENDED_KEY_USAGE = oid('551d25');
const PURPOSES = { serverAuth: oid('2b06010505070301'), clientAuth: oid('2b06010505070302') };
const BASIC_CONSTRAINTS = oid('551d13');
const TRUE = der(0x01, Buffer.from([0xff]));
const IS_AUTHORITY = sequence(BASIC_CONSTRAINTS, TRUE, der(0x04, sequence(TRUE)));
const validFor = (name: string) => sequence(SUBJECT_ALT_NAME, der(0x04, sequence(der(0x82, Buffer.from(name)))));
const onlyFor = (purpose: keyof typeof PURPOSES) =>
  sequence(EXTENDED_KEY_USAGE, der(0x04, sequence(PURPOSES[purpose])));
const distinguished = (name: string) => sequence(der(0x31, sequence(COMMON_NAME, der(0x0c, Buffer.from(name)))));

function utcTime(at: Date): Buffer {
  const digits = at.toISOString().replaceAll(/\.\d+|[-:T]/g, '');
  return der(0x17, Buffer.from(digits.slice(2)));
}
