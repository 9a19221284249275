import { readFileSync } from 'node:fs';
import { isIP } from 'node:net';
import type { LookupAddress } from 'node:dns';

/** What a machine is told of names beside DNS: hosts(5), and the search list and `ndots` of resolv.conf(5). */
export type SystemNames = { hosts: ReadonlyMap<string, LookupAddress[]>; search: readonly string[]; ndots: number };

/** As the machine has them now; a file that is not there says nothing. */
export function systemNames(): SystemNames {
  return { hosts: readHosts(textOf('/etc/hosts')), ...readSearch(textOf('/etc/resolv.conf')) };
}

export function readHosts(text: string): Map<string, LookupAddress[]> {
  const hosts = new Map<string, LookupAddress[]>();
  for (const [address = '', ...names] of wordsByLine(text)) {
    const family = isIP(address);
    if (family === 0) continue;
    for (const name of names.map((each) => each.toLowerCase())) {
      hosts.set(name, [...(hosts.get(name) ?? []), { address, family }]);
    }
  }
  return hosts;
}

/** The last `search` or `domain` line counts. */
export function readSearch(text: string): Pick<SystemNames, 'search' | 'ndots'> {
  let search: string[] = [];
  let ndots = 1;
  for (const [keyword, ...words] of wordsByLine(text)) {
    if (keyword === 'search' || keyword === 'domain') search = words.filter((word) => word !== '.');
    const found = keyword === 'options' ? words.findLast((word) => /^ndots:\d+$/.test(word)) : undefined;
    if (found !== undefined) ndots = Number(found.slice('ndots:'.length));
  }
  return { search, ndots };
}

/** The names to ask DNS for, in turn: one with fewer dots than `ndots` is looked for in the search list first. */
export function namesToAsk(host: string, { search, ndots }: Pick<SystemNames, 'search' | 'ndots'>): string[] {
  if (host.endsWith('.')) return [host];
  const searched = search.map((domain) => `${host}.${domain}`);
  return host.split('.').length > ndots ? [host, ...searched] : [...searched, host];
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
