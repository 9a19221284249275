import { createHash } from 'node:crypto';
import { getCACertificates, setDefaultCACertificates } from 'node:tls';

/** The oldest version of each line of Node.js that is trusted. Lines between and before them end before they are corrected. */
export const LEAST_NODE = ['24.22.1', '26.12.1'] as const;

/** Roots that Mozilla took out because their keys are public, by the SHA-256 of the certificate. */
const PUBLIC_ROOTS: Readonly<Record<string, string>> = {
  '125609aa301da0a249b97a8239cb6a34216f44dcac9f3954b14292f2e8c8608f': 'emSign Root CA - C1',
  '86a1ecba089c4a8d3bbe2734c612ba341d813e043cf9e8a862cd5c57a36bbe6b': 'emSign ECC Root CA - G3',
  bc4d809b15189d78db3e1d8cf4f9726a795da1643ca5f1358e1ddb0edc0d7eb3: 'emSign ECC Root CA - C3',
};

/** Names what is wrong with a version of Node.js; null if nothing is known. */
export function nodeTrouble(version: string = process.versions.node): string | null {
  if (isTrustedNode(version)) return null;
  return `node: ${version} has known holes in TLS, and trusts roots whose keys are public: run ${LEAST_NODE.join(' or ')}, or newer ones of these lines`;
}

/**
 * Removes roots whose keys are public from those that this process trusts, be they of Node.js, of NODE_EXTRA_CA_CERTS or of the
 * machine: whoever has such a key can pass for any receiver, and gets its tokens. Returns their names. Secure contexts made
 * before keep them.
 */
export function removePublicRoots(): string[] {
  const trusted = getCACertificates('default');
  const nameOf = (pem: string): string | undefined => PUBLIC_ROOTS[fingerprintOf(pem)];
  const found = trusted.flatMap((pem) => nameOf(pem) ?? []);
  if (found.length > 0) setDefaultCACertificates(trusted.filter((pem) => nameOf(pem) === undefined));
  return [...new Set(found)];
}

/** Whether a version is of a line that is trusted, and new enough in it. */
export function isTrustedNode(version: string): boolean {
  const [major = 0, minor = 0, patch = 0] = numbersOf(version);
  const [newestLine = 0] = numbersOf(LEAST_NODE[1]);
  if (major > newestLine) return true;
  return LEAST_NODE.map(numbersOf).some(
    ([line, least = 0, leastPatch = 0]) =>
      major === line && (minor > least || (minor === least && patch >= leastPatch)),
  );
}

const numbersOf = (version: string): number[] => version.split(/[.-]/, 3).map(Number);

const fingerprintOf = (pem: string): string =>
  createHash('sha256')
    .update(Buffer.from(pem.replaceAll(/-----[^-]+-----|\s/g, ''), 'base64'))
    .digest('hex');
