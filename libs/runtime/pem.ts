/** Certificates and private keys in PEM, however a setting gives them, and files with text. */
import { createPrivateKey, X509Certificate } from 'node:crypto';
import { readFileSync } from 'node:fs';
import { isAbsolute } from 'node:path';
import { fileURLToPath } from 'node:url';
import { makeValidator } from 'envalid';
import { codeOf } from './error-codes.ts';

type PemKind = { what: string; label: RegExp; convert: string; check: (pem: string) => unknown };

const CERTIFICATE: PemKind = {
  what: 'certificate',
  label: /^(X509 |TRUSTED )?CERTIFICATE$/,
  convert: 'openssl x509 -inform der',
  check: (pem) => new X509Certificate(pem),
};

const PRIVATE_KEY: PemKind = {
  what: 'private key',
  label: /^(ENCRYPTED |RSA |EC )?PRIVATE KEY$/,
  convert: 'openssl pkey -inform der',
  check: (pem) => createPrivateKey(pem),
};

/** Certificates, one after the other, as `readPem` reads them. */
export const certificates = makeValidator<string>((text) => readPem(text, CERTIFICATE));

/** A private key without a passphrase, as `readPem` reads it. */
export const privateKey = makeValidator<string>((text) => readPem(text, PRIVATE_KEY));

/** Throws like `readPem` if the file contains anything but readable certificates. */
export function requireCertificates(path: string): void {
  blocksIn(readTextFile(path), CERTIFICATE, OR_PATH);
}

/** The certificates in a text that is PEM however it is written, each by itself. Throws like `readPem`; never reads a file. */
export const certificatesIn = (text: string): string[] => blocksIn(text, CERTIFICATE);

/** The private keys, in the same way. */
export const privateKeysIn = (text: string): string[] => blocksIn(text, PRIVATE_KEY);

const OR_PATH = ', or the absolute path of a file with it';

/**
 * Returns the PEM in `text`, in lines. Platforms write line ends as `\n`, `\r\n` or spaces, add quotes, encode it in base64, or
 * give an absolute path instead, also as `file:`. Throws if there is none of the kind, or one that cannot be read, and says what
 * to give: otherwise each connection would fail later with an error about the server. Errors show nothing of the text but a path.
 */
function readPem(text: string, kind: PemKind): string {
  const given = text
    .trim()
    .replace(/^(["'])(.*)\1$/s, '$2')
    .trim();
  const path = pathIn(given);
  return blocksIn(path === undefined ? given : readTextFile(path), kind, OR_PATH).join('');
}

function pathIn(text: string): string | undefined {
  if (isAbsolute(text) && !text.includes('\n')) return text;
  const url = URL.parse(text);
  return url?.protocol === 'file:' && url.host === '' ? fileURLToPath(url) : undefined;
}

function blocksIn(text: string, kind: PemKind, instead = ''): string[] {
  const pem = fromBase64(text);
  const parts = pem.split('-----BEGIN ').map((part) => part.split('-----'));
  const blocks = parts.flatMap(([label = '', body = '', end]) =>
    end === `END ${label}` && kind.label.test(label) ? [blockOf(label, body)] : [],
  );
  if (blocks.length === 0) throw new Error(whatInstead(pem, kind, instead));
  for (const [index, block] of blocks.entries()) requireReadable(block, kind, `${index + 1} of ${blocks.length}`);
  return blocks;
}

function fromBase64(text: string): string {
  const isBase64 = /^[A-Za-z0-9+/=\s]+$/.test(text);
  const decoded = isBase64 ? Buffer.from(text, 'base64').toString() : '';
  return decoded.includes('-----BEGIN ') ? decoded : text;
}

/** Breaks the base64 into lines; keeps the lines before it that an old encrypted key has. */
function blockOf(label: string, body: string): string {
  const lines = body.replaceAll(/\\{1,4}r/g, '').replaceAll(/\\{1,4}n/g, '\n');
  const content = lines.includes(':')
    ? lines.trim()
    : lines
        .replaceAll(/\s/g, '')
        .match(/.{1,64}/g)
        ?.join('\n');
  return `-----BEGIN ${label}-----\n${content ?? ''}\n-----END ${label}-----\n`;
}

function requireReadable(block: string, { what, check }: PemKind, which: string): void {
  try {
    check(block);
  } catch {
    throw new Error(
      block.includes('ENCRYPTED')
        ? `holds a ${what} with a passphrase: give it without one (openssl pkey -in <file>)`
        : `holds a ${what} that is cut or damaged (${which}): give it whole`,
    );
  }
}

function whatInstead(text: string, { what, label, convert }: PemKind, instead: string): string {
  const [, other] = /-----BEGIN ([A-Z0-9 ]+)-----/.exec(text) ?? [];
  // DER begins with a sequence: 0x30, and bytes that are no text.
  if (/^0.?[^\s!-~]/s.test(text)) return `holds DER: convert it to PEM (${convert})`;
  if (other !== undefined && label.test(other)) return `holds a ${what} that is cut or damaged: give it whole`;
  const found = text.trim() === '' ? 'is empty' : `holds ${other ?? 'something else'}`;
  return `${found}: give a ${what} in PEM (-----BEGIN …)${instead}`;
}

const WHY: Readonly<Record<string, string>> = {
  ENOENT: 'there is no such file',
  ENOTDIR: 'there is no such file',
  EISDIR: 'it is a folder',
  EACCES: `the user of this process (${process.getuid?.()}) may not read it`,
};

/** Reads a file in UTF-8, without a byte order mark. Throws, naming it, where it cannot be read. */
export function readTextFile(path: string): string {
  try {
    return readFileSync(path, 'utf8').replace(/^\ufeff/, '');
  } catch (error) {
    const code = codeOf(error);
    throw new Error(`"${path}" cannot be read: ${WHY[code] ?? code}`, { cause: error });
  }
}
