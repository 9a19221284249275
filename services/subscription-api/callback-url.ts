import { lookup } from 'node:dns/promises';
import { isIP } from 'node:net';
import { isForbiddenPort } from '@waybell/runtime/callback-ports';
import { isForbiddenAddress, type CallbackNetworks } from '@waybell/runtime/forbidden-address';

export type CallbackRules = {
  isHttpAllowed: boolean;
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolve: Resolve;
};

/** The addresses of a host; none where it does not resolve, or not in time. */
export type Resolve = (host: string) => Promise<string[]>;

const LENGTH_LIMIT = 2_048;

/**
 * What is wrong with a `callback_url`, or null. It must be an absolute https URL without user info and fragment, and
 * neither its port nor its host may be, or resolve only to, what callbacks never go to. A host that does not resolve
 * yet is fine, unless its name can only be one inside a network: the address is checked again at every connection.
 */
export async function findCallbackUrlFault(text: string, rules: CallbackRules): Promise<string | null> {
  if (text.length > LENGTH_LIMIT) return `is longer than ${LENGTH_LIMIT} characters`;
  const schemes = rules.isHttpAllowed ? 'https or http' : 'https';
  // The URL standard would mend these silently; another reader of the same text might mend them differently.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text) || !text.isWellFormed()) {
    return 'contains a space, a backslash, or a control or invisible character';
  }
  const url = URL.parse(text);
  const isScheme = url?.protocol === 'https:' || (rules.isHttpAllowed && url?.protocol === 'http:');
  if (url !== null && !isScheme) return `is not ${schemes}`;
  if (url === null || !/^https?:\/\/[^/]/i.test(text)) return `is not an absolute ${schemes} URL`;
  if (/^[^/]*\/\/[^/?#]*@/.test(text)) return 'contains user info: take it out';
  if (text.includes('#')) return 'contains a fragment: take it out';
  if (isForbiddenPort(url, rules.deniedPorts)) return `names port ${url.port}, where callbacks never go`;
  return findHostFault(url.hostname, rules);
}

// Names without a dot, and those set aside for networks of one's own (RFC 6761, 6762, 8375; ICANN for .internal).
const INSIDE_NAME = /^[^.]+\.?$|(^|\.)(localhost|local|internal|home\.arpa)\.?$/;

async function findHostFault(hostname: string, rules: CallbackRules): Promise<string | null> {
  const host = hostname.replace(/^\[(.*)\]$/, '$1');
  const isForbidden = (address: string) => isForbiddenAddress(address, rules.networks);
  if (isIP(host) !== 0) return isForbidden(host) ? `points to ${host}, where callbacks never go` : null;
  const addresses = await rules.resolve(host);
  if (addresses.length === 0) return INSIDE_NAME.test(host) ? `names ${host}, which no public address can have` : null;
  if (!addresses.every(isForbidden)) return null;
  return `points to ${host}, which resolves only to addresses where callbacks never go`;
}

/** Asks the system's resolver, for at most `timeoutMs`. */
export function resolveWithin(timeoutMs: number): Resolve {
  return async (host) => {
    const unanswered = Promise.withResolvers<string[]>();
    const timer = setTimeout(() => unanswered.resolve([]), timeoutMs);
    const answered = lookup(host, { all: true }).then(
      (found) => found.map(({ address }) => address),
      () => [],
    );
    return Promise.race([answered, unanswered.promise]).finally(() => clearTimeout(timer));
  };
}
