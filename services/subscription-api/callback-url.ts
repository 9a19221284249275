import { isIP } from 'node:net';
import { isAnswer, UnresolvedHost } from '@waybell/runtime/names/name-servers';
import { withoutRootDot, type ResolveHost } from '@waybell/runtime/names/resolve-host';
import {
  isForbiddenPort,
  isForbiddenAddress,
  type CallbackNetworks,
  lonePercentIn,
  parseStrictUrl,
} from '@waybell/runtime/networks';

export type CallbackRules = {
  isHttpAllowed: boolean;
  networks: CallbackNetworks;
  deniedPorts: ReadonlySet<number>;
  resolve: Resolve;
};

/** The addresses of a host, none where there is no such host; undefined where no name server answers, or not in time. */
export type Resolve = (host: string) => Promise<string[] | undefined>;

/** The address in its stored and shown form, or its fault. */
export type CallbackUrl = { url: string } | { fault: string };

const LENGTH_LIMIT = 2_048;
const PUBLIC_ONLY = 'callbacks go to public addresses only';

/**
 * Reads a `callback_url`, as the URL standard does, encoded as RFC 3986 wants it: what is stored, shown and sent to is one and the same.
 * It must be an absolute https URL without user info and fragment, and neither its port nor its host may be, or resolve
 * only to, what callbacks never go to. If no name server says which addresses its name has, it is accepted, unless the name can
 * only be one inside a network: the address is checked again at every connection.
 */
export async function readCallbackUrl(text: string, rules: CallbackRules): Promise<CallbackUrl> {
  const url = parseStrictUrl(text);
  if (url?.hostname.endsWith('.')) dropRootDot(url);
  const fault = findFault(text, url, rules) ?? (url && (await findHostFault(url.hostname, rules)));
  return url === null || fault !== null ? { fault: fault ?? 'is no URL' } : { url: url.href };
}

/**
 * The dot at the end of a host belongs neither to names in certificates nor to those that servers answer to. A name without
 * another dot keeps it: it could lead through the search list without.
 */
function dropRootDot(url: URL): void {
  const host = withoutRootDot(url.hostname);
  url.hostname = host.includes('.') || host === 'localhost' ? host : `${host}.`;
}

// The limit of a name in DNS.
const HOST_LIMIT = 253;

/** A host as callback URLs have it, without a port; undefined where the text names none. */
export function hostNamed(text: string): string | undefined {
  const url = URL.parse(`https://${text}`);
  if (url?.hostname.endsWith('.')) dropRootDot(url);
  const isHost = url?.href === `https://${url?.hostname}/` && !/[/\\?#@:\s]/.test(text.replace(/^\[[^\]]*]$/, ''));
  return isHost && text.length <= HOST_LIMIT ? url.hostname : undefined;
}

/** A host in the form of callback URLs, with its port unless that is 443; or its fault. */
export type CallbackHost = { host: string } | { fault: string };

/** Reads the host of callback URLs: `host`, `host:8443`. Does not check whether its name has an address, and callbacks may go there. */
export function readCallbackHost(text: string): CallbackHost {
  const whole = text.includes('://') ? URL.parse(text) : null;
  if (whole?.host) return { fault: `is a URL: give its host alone, which is ${whole.host}` };
  const url = URL.parse(`https://${text}`);
  if (url?.hostname.endsWith('.')) dropRootDot(url);
  const isTooLong = Math.max(text.length, url?.host.length ?? 0) > HOST_LIMIT + ':65535'.length;
  if (url === null || isTooLong || /[/?]/.test(text)) return { fault: `must be ${HOST_FORM}` };
  const fault = findFault(`https://${text}`, url, { isHttpAllowed: false, deniedPorts: NO_PORTS }) ?? nameFault(url);
  return fault === null ? { host: url.host } : { fault };
}

/** Why callbacks never go to a host that was read; null if they may. */
export function findHostRefusal(host: string, rules: Pick<CallbackRules, 'networks' | 'deniedPorts'>): string | null {
  const url = new URL(`https://${host}`);
  return findPortFault(url, rules) ?? findAddressFault(url.hostname, rules);
}

const NO_PORTS: ReadonlySet<number> = new Set();

/** RFC 1035, 2.3.4; with the underscore that some names have. */
const LABEL = /^[a-z0-9_-]{1,63}$/;

function nameFault({ hostname }: URL): string | null {
  const isAddress = isIP(unbracketed(hostname)) !== 0;
  const labels = withoutRootDot(hostname).split('.');
  return isAddress || labels.every((label) => LABEL.test(label))
    ? null
    : 'is no name of one host: it has letters, digits and hyphens with dots between them';
}

const HOST_FORM = 'a host such as receiver.example.com, with its port where that is not 443: receiver.example.com:8443';

type TextRules = Pick<CallbackRules, 'isHttpAllowed' | 'deniedPorts'>;

function findFault(text: string, url: URL | null, rules: TextRules): string | null {
  if (Math.max(text.length, url?.href.length ?? 0) > LENGTH_LIMIT) return `is longer than ${LENGTH_LIMIT} characters`;
  const schemes = rules.isHttpAllowed ? 'https or http' : 'https';
  // The URL standard would correct these silently; another reader of the same text might correct them differently.
  if (/[\s\\\p{Cc}\p{Cf}]/u.test(text) || !text.isWellFormed()) {
    return 'contains a space, a backslash, or a control or invisible character';
  }
  const isScheme = url?.protocol === 'https:' || (rules.isHttpAllowed && url?.protocol === 'http:');
  if (url !== null && !isScheme) return `is not ${schemes}`;
  if (url === null || !/^https?:\/\/[^/]/i.test(text)) return `is not an absolute ${schemes} URL`;
  if (url.username + url.password !== '' || /^[^/]*\/\/[^/?#]*@/.test(text))
    return 'contains a user name or password: remove it';
  if (withoutRootDot(url.hostname) === '') return 'names no host';
  if (text.includes('#')) return 'contains a fragment: remove it';
  const lone = lonePercentIn(text);
  if (lone !== undefined) return `has a % that begins no escape, at character ${lone}: write it as %25`;
  return findPortFault(url, rules);
}

function findPortFault(url: URL, { deniedPorts }: Pick<CallbackRules, 'deniedPorts'>): string | null {
  return isForbiddenPort(url, deniedPorts) ? `names port ${url.port}, which is closed to callbacks` : null;
}

// Names without a dot, and those set aside for networks of one's own (RFC 6761, 6762, 8375; ICANN for .internal).
const INSIDE_NAME = /^[^.]+\.?$|(^|\.)(localhost|local|internal|home\.arpa)\.?$/;

async function findHostFault(hostname: string, rules: CallbackRules): Promise<string | null> {
  const host = unbracketed(hostname);
  const isForbidden = (address: string) => isForbiddenAddress(address, rules.networks);
  if (isIP(host) !== 0) return findAddressFault(hostname, rules);
  const addresses = await rules.resolve(host);
  if (addresses === undefined) return INSIDE_NAME.test(host) ? `names ${host}, which no public address can have` : null;
  if (addresses.length === 0) return `names ${host}, which does not exist`;
  if (!addresses.every(isForbidden)) return null;
  return `points to ${host}, which has no public address: ${PUBLIC_ONLY}`;
}

/** Finds the fault of a host that is an address. */
function findAddressFault(hostname: string, { networks }: Pick<CallbackRules, 'networks'>): string | null {
  const host = unbracketed(hostname);
  return isIP(host) !== 0 && isForbiddenAddress(host, networks)
    ? `points to ${host}, which is private or reserved: ${PUBLIC_ONLY}`
    : null;
}

const unbracketed = (hostname: string): string => hostname.replace(/^\[(.*)\]$/, '$1');

/** Resolves names as a deliverer would, for at most `timeoutMs`. */
export function resolveWithin(timeoutMs: number, open: () => ResolveHost): Resolve {
  let resolveHost: ResolveHost | undefined;
  return async (host) => {
    // It finds name servers as soon as it is made, which reading settings must not cause.
    resolveHost ??= open();
    const unanswered = Promise.withResolvers<undefined>();
    const timer = setTimeout(() => unanswered.resolve(undefined), timeoutMs);
    const answered = resolveHost(host).then(
      (found) => found.map(({ address }) => address),
      (error: unknown) => (error instanceof UnresolvedHost && isAnswer(error.cause) ? [] : undefined),
    );
    return Promise.race([answered, unanswered.promise]).finally(() => clearTimeout(timer));
  };
}
