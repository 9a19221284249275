import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { LookupAddress } from 'node:dns';
import { withoutRootDot } from './host-name.ts';

/**
 * The name configuration of a machine: hosts(5), by lower-case names without a final dot; and from resolv.conf(5) the name
 * servers, the search list and `ndots`.
 */
export type SystemNames = {
  hosts: ReadonlyMap<string, LookupAddress[]>;
  servers: readonly string[];
  search: readonly string[];
  ndots: number;
};

type Files = { hosts: string; resolvConf: string };
const FILES: Files = { hosts: '/etc/hosts', resolvConf: '/etc/resolv.conf' };

/**
 * Returns a function that reads the name configuration, and returns the same object while it is unchanged. Reads both files
 * whole: a file that is replaced, mounted or linked shows no other change on every system. A file that is empty, unreadable or no
 * longer names a server is just being written: its previous content counts.
 */
export function followSystemNames(files: Files = FILES): () => SystemNames {
  let texts = { hosts: '', resolvConf: '' };
  let names = parse(texts);
  return () => {
    const read = {
      hosts: textOf(files.hosts) || texts.hosts,
      resolvConf: textOf(files.resolvConf) || texts.resolvConf,
    };
    if (read.hosts === texts.hosts && read.resolvConf === texts.resolvConf) return names;
    const { hosts, ...next } = parse(read);
    const isWhole = next.servers.length > 0 || names.servers.length === 0;
    names = { ...(isWhole ? next : names), hosts };
    texts = read;
    return names;
  };
}

const parse = ({ hosts, resolvConf }: Files): SystemNames => ({
  hosts: readHosts(hosts),
  ...readResolvConf(resolvConf),
});

export function readHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of wordsByLine(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => withoutRootDot(each.toLowerCase()))) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** The last `search` or `domain` line counts. */
export function readResolvConf(text: string): Omit<SystemNames, 'hosts'> {
  const servers: string[] = [];
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...words] of wordsByLine(text)) {
    const [first = ''] = words;
    if (keyword === 'nameserver' && isIP(first) !== 0) servers.push(first);
    if (keyword === 'search' || keyword === 'domain') search = words.map(withoutRootDot).filter(Boolean);
    const found = keyword === 'options' ? words.findLast((word) => /^ndots:\d+$/.test(word)) : undefined;
    if (found !== undefined) ndots = Number(found.slice('ndots:'.length));
  }
  return { servers, search, ndots };
}

/**
 * Returns the names to ask DNS for, in order. A name with a dot in it, or at its end, is absolute: through the search list,
 * whoever has a name below one of its domains would get the requests. Other names go through the list as resolv.conf(5) says.
 */
export function namesToAsk(host: string, { search, ndots }: Pick<SystemNames, 'search' | 'ndots'>): string[] {
  const name = withoutRootDot(host);
  if (host.includes('.')) return [name];
  const searched = search.map((domain) => `${name}.${domain}`);
  return ndots === 0 ? [name, ...searched] : [...searched, name];
}

function wordsByLine(text: string): string[][] {
  return text.split('\n').map((line) =>
    line
      .replace(/[#;].*/, '')
      .split(/\s+/)
      .filter(Boolean),
  );
}

function textOf(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch {
    return '';
  }
}
