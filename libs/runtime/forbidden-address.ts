import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';
import { ipv4Inside, readNat64, type Nat64Prefix } from './nat64.ts';

/**
 * Settings in addition to the registries: networks that callbacks may reach nevertheless, and networks that they never may;
 * prefixes behind which an IPv6 address stands for an IPv4 address; and this machine's own addresses.
 */
export type CallbackNetworks = {
  allowed: Networks;
  denied: Networks;
  nat64: readonly Nat64Prefix[];
  own: BlockList;
};

/** Networks by family: a single BlockList would match IPv4 addresses in an IPv6 network such as `::/0`. */
type Networks = Record<AddressFamily, BlockList>;

// IANA special-purpose registry (IPv4), and the address of a cloud's metadata and wire service.
const FORBIDDEN_IPV4_NETWORKS = [
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
];
const FORBIDDEN_IPV4 = networksOf(FORBIDDEN_IPV4_NETWORKS);

// For IPv6 the reverse: only global unicast is allowed, without what the registry sets aside within it.
const GLOBAL_IPV6 = networksOf(['2000::/3']);
const FORBIDDEN_IPV6_NETWORKS = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];
const FORBIDDEN_IPV6 = networksOf(FORBIDDEN_IPV6_NETWORKS);

/**
 * Reads networks in CIDR form, and prefixes of a NAT64 besides the well-known one. Throws, naming the entry, if one is invalid.
 */
export function readNetworks(
  allow: readonly string[],
  deny: readonly string[] = [],
  nat64: readonly string[] = [],
): CallbackNetworks {
  return { allowed: networksOf(allow), denied: networksOf(deny), nat64: readNat64(nat64), own: ownAddresses() };
}

function networksOf(cidrs: readonly string[]): Networks {
  const networks = { ipv4: new BlockList(), ipv6: new BlockList() };
  for (const cidr of cidrs) {
    const [address = '', prefix = ''] = cidr.split('/');
    const family = familyOf(address);
    const bits = Number(prefix);
    if (family === undefined || !/^\d{1,3}$/.test(prefix) || bits > (family === 'ipv4' ? 32 : 128)) {
      throw new Error(`"${cidr}" is not a network: write it as 10.1.0.0/16 or fd00::/8`);
    }
    networks.ipv6.addSubnet(address, bits, family);
    if (family === 'ipv4') networks.ipv4.addSubnet(address, bits, family);
  }
  return networks;
}

/**
 * Whether callbacks must not be sent to this address, whatever other addresses its host has: loopback, private, link-local,
 * carrier-grade NAT, multicast, reserved, cloud metadata, this machine's own, and every IPv6 form that contains an IPv4 address,
 * unless allowed; and denied addresses, even if also allowed. A NAT64 address is judged only by the IPv4 address inside: allowing
 * its prefix allows nothing. Anything that is no IP address is forbidden.
 */
export function isForbiddenAddress(address: string, networks: CallbackNetworks): boolean {
  const family = familyOf(address);
  // An address with a zone (`%eth0`) is link-local.
  if (family === undefined || address.includes('%') || networks.denied[family].check(address, family)) return true;
  const inside = family === 'ipv6' ? ipv4Inside(address, networks.nat64) : undefined;
  if (inside === undefined) return isForbidden(address, family, networks);
  return inside === null || networks.denied.ipv4.check(inside, 'ipv4') || isForbidden(inside, 'ipv4', networks);
}

function isForbidden(address: string, family: AddressFamily, { allowed, own }: CallbackNetworks): boolean {
  if (allowed[family].check(address, family)) return false;
  if (own.check(address, family)) return true;
  if (family === 'ipv4') return FORBIDDEN_IPV4[family].check(address, family);
  return (
    !GLOBAL_IPV6[family].check(address, family) || FORBIDDEN_IPV6[family].check(address, family) || isIsatap(address)
  );
}

/** Whether every address of a network, written with its first address, can be seen on the public internet. */
export function isPublicNetwork(cidr: string): boolean {
  const [address = ''] = cidr.split('/');
  const family = familyOf(address);
  if (family === undefined || isForbidden(address, family, ANYWHERE)) return false;
  const forbidden = family === 'ipv4' ? FORBIDDEN_IPV4_NETWORKS : FORBIDDEN_IPV6_NETWORKS;
  const network = networksOf([cidr])[family];
  // If two networks overlap, one contains the other's first address.
  return !forbidden.some((each) => network.check(each.split('/')[0] ?? '', family));
}

/** Whether a setting allows the address. */
export function isAllowedAddress(address: string, { allowed }: Pick<CallbackNetworks, 'allowed'>): boolean {
  const family = familyOf(address);
  return family !== undefined && allowed[family].check(address, family);
}

/** Whether settings allow any network, for receivers inside. */
export const allowsAny = ({ allowed }: Pick<CallbackNetworks, 'allowed'>): boolean => allowed.ipv6.rules.length > 0;

type AddressFamily = 'ipv4' | 'ipv6';

const ANYWHERE = { ...readNetworks([]), own: new BlockList() };

function familyOf(address: string): AddressFamily | undefined {
  if (isIP(address) === 0) return undefined;
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

// A public address of this machine would lead callbacks to other servers on it.
function ownAddresses(): BlockList {
  const own = new BlockList();
  for (const { address } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    const family = familyOf(address);
    if (family !== undefined) own.addAddress(address, family);
  }
  return own;
}

// RFC 5214, 6.1: after any network prefix, the second half is 0000:5efe or 0200:5efe and an IPv4 address.
function isIsatap(address: string): boolean {
  const [, , , , high, low] = ipaddr.IPv6.parse(address).parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}
