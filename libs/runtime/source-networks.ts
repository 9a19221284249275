import { isIP } from 'node:net';
import ipaddr from 'ipaddr.js';
import { isPublicNetwork } from './forbidden-address.ts';

/**
 * Reads networks and single addresses from which callbacks come, and writes each as a network: `203.0.113.7` is
 * `203.0.113.7/32`. Throws, naming the entry, if one is neither. What no public receiver can see, such as a private network, is
 * refused unless there are receivers inside.
 */
export function readSourceNetworks(entries: readonly string[], { areInside }: { areInside: boolean }): string[] {
  const networks = [...new Set(entries.map(readNetwork))];
  const unseen = areInside ? undefined : networks.find((network) => !isPublicNetwork(network));
  if (unseen === undefined) return networks;
  throw new Error(
    `"${unseen}" is, or holds, addresses that no public receiver can see: write the public ones, such as your NAT gateway's; ` +
      'where receivers are inside your network, CALLBACK_ALLOW_NETWORKS has to name theirs',
  );
}

function readNetwork(entry: string): string {
  const [address = '', prefix] = entry.split('/');
  const most = { 0: 0, 4: 32, 6: 128 }[isIP(address)] ?? 0;
  const bits = Number(prefix ?? most);
  if (most === 0 || address.includes('%') || !/^\d{1,3}$/.test(prefix ?? '0') || bits > most || bits === 0) {
    throw new Error(
      `"${entry}" is neither a network nor an address: write it as 203.0.113.0/28, 2001:db8:9::/48 or 203.0.113.7`,
    );
  }
  const written = `${ipaddr.parse(address).toString()}/${bits}`;
  const { IPv4, IPv6 } = ipaddr;
  const network = `${(most === 32 ? IPv4 : IPv6).networkAddressFromCIDR(written).toString()}/${bits}`;
  if (network !== written)
    throw new Error(`"${entry}" names an address within its network: write ${network}, or the address alone`);
  return network;
}
