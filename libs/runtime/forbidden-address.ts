import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** What the settings say beside the registries: where callbacks may go nonetheless, and where they never may. */
export type CallbackNetworks = { allowed: BlockList; denied: BlockList };

// IANA special-purpose registry (IPv4), plus the address of a cloud's metadata and wire service.
const FORBIDDEN_IPV4 = networksOf([
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
const GLOBAL_IPV6 = networksOf(['2000::/3']);
const FORBIDDEN_IPV6 = networksOf(['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20']);

/** Reads networks in CIDR form. Throws, naming the entry, where one is none. */
export function readNetworks(allow: readonly string[], deny: readonly string[] = []): CallbackNetworks {
  return { allowed: networksOf(allow), denied: networksOf(deny) };
}

function networksOf(cidrs: readonly string[]): BlockList {
  const networks = new BlockList();
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/');
    const family = familyOf(address);
    const bits = Number(prefix);
    if (family === undefined || !/^\d{1,3}$/.test(prefix) || bits > (family === 'ipv4' ? 32 : 128)) {
      throw new Error(`"${cidr}" is not a network: write it as 10.1.0.0/16 or fd00::/8`);
    }
    networks.addSubnet(address, bits, family);
  }
  return networks;
}

/**
 * Whether a callback must not be sent to this address: loopback, private, link-local, carrier-grade NAT, multicast,
 * reserved, cloud metadata, and every IPv6 form that carries an IPv4 address inside, unless it is allowed; and what is
 * denied, even where it is allowed too. Anything that is not an IP address is forbidden.
 */
export function isForbiddenAddress(address: string, { allowed, denied }: CallbackNetworks): boolean {
  const family = familyOf(address);
  if (family === undefined || denied.check(address, family)) return true;
  if (allowed.check(address, family)) return false;
  if (family === 'ipv4') return FORBIDDEN_IPV4.check(address, family);
  return !GLOBAL_IPV6.check(address, family) || FORBIDDEN_IPV6.check(address, family) || isIsatap(address);
}

/** Whether the settings allow it by name. */
export function isAllowedAddress(address: string, { allowed }: CallbackNetworks): boolean {
  const family = familyOf(address);
  return family !== undefined && allowed.check(address, family);
}

function familyOf(address: string): 'ipv4' | 'ipv6' | undefined {
  if (isIP(address) === 0) return undefined;
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

// RFC 5214, 6.1: whatever network comes first, the second half is 0000:5efe or 0200:5efe and an IPv4 address.
function isIsatap(address: string): boolean {
  const [, , , , high, low] = ipaddr.IPv6.parse(address).parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}
