import { createPrivateKey, X509Certificate, type KeyObject } from 'node:crypto';
import { createSecureContext } from 'node:tls';
import { codeOf } from '@waybell/runtime/error-codes';
import { certificatesIn, privateKeysIn } from '@waybell/runtime/pem';
import type { ShownCertificate } from '../../receiver-credentials.ts';
import { pointTo } from '../http/body.ts';
import type { Fault } from '../http/problem.ts';

type Pem = { chain: string; key: string };

/** A certificate as it is stored, and its public part; or its fault. */
export type ReadCertificate = { certificate: Pem; shown: ShownCertificate } | { faults: Fault[] };

const MOST_CERTIFICATES = 10;
const LEAST_RSA_BITS = 2_048;
/** A signature, by the thread of all deliveries, takes a millisecond; with 16,384 bits more than one second. */
const MOST_RSA_BITS = 4_096;
const CURVES = new Set(['prime256v1', 'secp384r1', 'secp521r1']);
const OTHER_KEYS = new Set(['ed25519', 'ed448']);
/** RFC 5280, 4.2.1.12: for clients of TLS, and for any purpose. */
const CLIENT_PURPOSES = ['1.3.6.1.5.5.7.3.2', '2.5.29.37.0'];
/** Clocks differ. */
const EARLY_MS = 3_600_000;

/**
 * Reads a certificate for TLS client authentication, with those that issued it, and its key, if receivers can accept them now. No fault
 * quotes either.
 */
export function readCertificate(given: Pem, nowMs: number): ReadCertificate {
  const chain = reading(() => certificatesIn(given.chain).map((pem) => new X509Certificate(pem)));
  const key = reading(() => oneOf(privateKeysIn(given.key)));
  const ofChain = chain.fault ?? chainFault(chain.value, nowMs);
  const [leaf] = chain.value ?? [];
  const certificate = { chain: (chain.value ?? []).map(String).join(''), key: key.value ?? '' };
  const ofKey = key.fault ?? (ofChain === null ? keyFault(certificate, chain.value ?? []) : null);
  if (leaf !== undefined && ofChain === null && ofKey === null) return { certificate, shown: shownOf(leaf) };
  return { faults: [...faultsAt('chain', ofChain), ...faultsAt('key', ofKey)] };
}

const faultsAt = (member: keyof Pem, detail: string | null): Fault[] =>
  detail === null ? [] : [{ pointer: pointTo('certificate', member), detail }];

type Reading<T> = { value: T; fault?: undefined } | { value?: undefined; fault: string };

/** Errors state the fault without the text. */
function reading<T>(read: () => T): Reading<T> {
  try {
    return { value: read() };
  } catch (error) {
    return { fault: error instanceof Error ? error.message : 'cannot be read' };
  }
}

function oneOf([key, ...others]: string[]): string {
  if (key === undefined || others.length > 0)
    throw new Error('holds several private keys: give that of the certificate');
  return key;
}

function chainFault(chain: readonly X509Certificate[], nowMs: number): string | null {
  const [leaf] = chain;
  if (leaf === undefined || chain.length > MOST_CERTIFICATES)
    return `holds more than ${MOST_CERTIFICATES} certificates: give that of the key, and those that lead to its authority`;
  return timeFault(chain, nowMs) ?? orderFault(chain) ?? purposeFault(leaf) ?? strengthFault(leaf);
}

function timeFault(chain: readonly X509Certificate[], nowMs: number): string | null {
  for (const [index, { validFromDate, validToDate }] of chain.entries()) {
    const which = certificateName(index, chain.length);
    if (Number.isNaN(validFromDate.getTime() + validToDate.getTime())) return `${which} has no time that can be read`;
    if (validToDate.getTime() <= nowMs) return `${which} ended at ${validToDate.toISOString()}: give one that is valid`;
    if (validFromDate.getTime() > nowMs + EARLY_MS)
      return `${which} is valid from ${validFromDate.toISOString()} on: put it in then`;
  }
  return null;
}

const certificateName = (index: number, count: number): string =>
  count === 1 ? 'holds a certificate that' : `holds a certificate, number ${index + 1} of ${count}, that`;

/** RFC 8446, 4.4.2. */
function orderFault(chain: readonly X509Certificate[]): string | null {
  const broken = chain.findIndex((each, index) => index > 0 && !isIssuedBy(chain[index - 1], each));
  if (broken === -1) return null;
  return `is not in order: certificate ${broken + 1} did not issue certificate ${broken}. Begin with that of the key, then each that issued the one before`;
}

function isIssuedBy(certificate: X509Certificate | undefined, issuer: X509Certificate): boolean {
  return certificate?.checkIssued(issuer) === true && isTrue(() => certificate.verify(issuer.publicKey));
}

function purposeFault({ keyUsage: purposes }: { keyUsage: string[] | undefined }): string | null {
  const isForClients = purposes?.some((each) => CLIENT_PURPOSES.includes(each)) ?? true;
  return isForClients
    ? null
    : 'is not for TLS client authentication, but for other purposes alone: have one issued with the extended key usage clientAuth';
}

function strengthFault(leaf: X509Certificate): string | null {
  const { value: key } = reading(() => leaf.publicKey);
  return key !== undefined && isStrong(key)
    ? null
    : `is of a key that is too weak or too large, or of a kind that receivers do not take: use RSA with ${LEAST_RSA_BITS} to ${MOST_RSA_BITS} bits, or P-256`;
}

function isStrong({ asymmetricKeyType: type, asymmetricKeyDetails: details = {} }: KeyObject): boolean {
  const { modulusLength: bits = 0 } = details;
  if (type === 'rsa') return bits >= LEAST_RSA_BITS && bits <= MOST_RSA_BITS;
  return type === 'ec' ? CURVES.has(details.namedCurve ?? '') : OTHER_KEYS.has(type ?? '');
}

function keyFault({ chain, key }: Pem, certificates: readonly X509Certificate[]): string | null {
  const privateKey = createPrivateKey(key);
  const fitting = certificates.findIndex((each) => isTrue(() => each.checkPrivateKey(privateKey)));
  if (fitting === -1) return 'is not the key of the certificate: give both as they were made together';
  if (fitting > 0) return `is that of certificate ${fitting + 1} of the chain: put that certificate first`;
  if (!isWhole(privateKey)) return 'is damaged: the numbers in it do not belong together';
  try {
    createSecureContext({ cert: chain, key });
    return null;
  } catch (error) {
    return `and its chain cannot be used for TLS (${codeOf(error) || 'no reason given'}): have the certificate reissued`;
  }
}

/** OpenSSL signs with any key, but twenty times as slowly if the factors of RSA, or their exponents, are wrong. */
function isWhole(privateKey: KeyObject): boolean {
  if (privateKey.asymmetricKeyType !== 'rsa') return true;
  const jwk = privateKey.export({ format: 'jwk' });
  const [d, p, q] = [numberOf(jwk.d), numberOf(jwk.p), numberOf(jwk.q)];
  const areFactors = p > 1n && q > 1n && numberOf(jwk.n) === p * q && (numberOf(jwk.qi) * q) % p === 1n;
  return areFactors && numberOf(jwk.dp) === d % (p - 1n) && numberOf(jwk.dq) === d % (q - 1n);
}

const numberOf = (base64url = ''): bigint => BigInt(`0x0${Buffer.from(base64url, 'base64url').toString('hex')}`);

function isTrue(check: () => boolean): boolean {
  return reading(check).value === true;
}

function shownOf({ subject, issuer, validFromDate, validToDate, fingerprint256 }: X509Certificate): ShownCertificate {
  return {
    subject: inOneLine(subject),
    issuer: inOneLine(issuer),
    not_before: validFromDate.toISOString(),
    not_after: validToDate.toISOString(),
    fingerprint: fingerprint256,
  };
}

/** Node writes each attribute of a name in a separate line. */
const inOneLine = (name: string | undefined): string => (name ?? '').split('\n').join(', ');
