import { X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/**
 * Has this process trust the certificates of a file as well: of authorities, or of servers that signed their own. Throws where the file cannot
 * be read or holds none.
 */
export function trustAlso(file: string): void {
  const certificates = certificatesIn(readFileSync(file, 'utf8'));
  if (certificates.length === 0) throw new Error(`${file} holds no certificate in PEM: ${BEGIN}`);
  for (const each of certificates) if (!isReadable(each)) throw new Error(`${file} holds a certificate that is broken`);
  setDefaultCACertificates([...getCACertificates('default'), ...certificates]);
}

const [BEGIN, END] = ['-----BEGIN CERTIFICATE-----', '-----END CERTIFICATE-----'];

function certificatesIn(text: string): string[] {
  const ended = text.split(END).slice(0, -1);
  return ended.filter((part) => part.includes(BEGIN)).map((part) => part.slice(part.lastIndexOf(BEGIN)) + END);
}

function isReadable(pem: string): boolean {
  try {
    return new X509Certificate(pem).subject !== undefined;
  } catch {
    return false;
  }
}

const UNTRUSTED = /SELF_SIGNED|UNABLE_TO_(?:VERIFY|GET_ISSUER)|CERT_UNTRUSTED|INVALID_CA/;

/** Why a server could not be called, with what to do about it where no TLS could be spoken. */
export function callFailure({ code = '', message }: NodeJS.ErrnoException): string {
  // Node adds its own advice, of which this program has no use.
  const [what = ''] = message.split(';', 1);
  if (UNTRUSTED.test(code))
    return `${what}: --ca <file> with its certificate, or that of its authority, has it trusted`;
  if (code === 'ERR_TLS_CERT_ALTNAME_INVALID') return `${message}: call it by a name that its certificate is for`;
  if (/wrong version number|packet length too long/.test(message)) return 'it speaks no TLS there: try http://';
  return message || code;
}
