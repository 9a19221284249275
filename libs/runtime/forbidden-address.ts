import { BlockList, isIP } from 'node:net';

/** Networks that callbacks may reach although they are forbidden by default. */
export type AllowList = BlockList;

// IANA special-purpose registry (IPv4), plus the address of a cloud's metadata and wire service.
const FORBIDDEN_IPV4 = readNetworks([
  '0.0.0.0/8',
  '10.0.0.0/8',
  '100.64.0.0/10',
  '127.0.0.0/8',
  '169.254.0.0/16',
  '172.16.0.0/12',
  '192.0.0.0/24',
  '192.0.2.0/24',
  '192.31.196.0/24',
  '192.52.193.0/24',
  '192.88.99.0/24',
  '192.168.0.0/16',
  '192.175.48.0/24',
  '198.18.0.0/15',
  '198.51.100.0/24',
  '203.0.113.0/24',
  '224.0.0.0/4',
  '240.0.0.0/4',
  '168.63.129.16/32',
]);

// IPv6 the other way round: only global unicast is allowed, minus what the registry sets aside within it.
const GLOBAL_IPV6 = readNetworks(['2000::/3']);
const FORBIDDEN_IPV6 = readNetworks(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** Reads networks in CIDR form. Throws, naming the entry, where one is none. */
export function readNetworks(cidrs: readonly string[]): AllowList {
  const networks = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/');
    const family = isIP(address);
    const bits = Number(prefix);
    if (family === 0 || !/^\d{1,3}$/.test(prefix) || bits > (family === 4 ? 32 : 128)) {
      throw new Error(`"${cidr}" is not a network: write it as 10.1.0.0/16 or fd00::/8`);
    }
    networks.addSubnet(address, bits, family === 4 ? 'ipv4' : 'ipv6');
  }
  return networks;
}

/**
 * Whether a callback must not be sent to this address: loopback, private, link-local, carrier-grade NAT, multicast,
 * reserved, cloud metadata, and every IPv6 form that carries an IPv4 address inside. Anything that is not an IP
 * address is forbidden.
 */
export function isForbiddenAddress(address: string, allowed: AllowList): boolean {
  const family = isIP(address);
  if (family === 0) return true;
  if (family === 4) return !allowed.check(address, 'ipv4') && FORBIDDEN_IPV4.check(address, 'ipv4');
  if (allowed.check(address, 'ipv6')) return false;
  return !GLOBAL_IPV6.check(address, 'ipv6') || FORBIDDEN_IPV6.check(address, 'ipv6');
}
