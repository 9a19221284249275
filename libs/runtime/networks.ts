/**
 * The addresses and ports that callbacks may reach, the networks that they come from, and addresses as others write them.
 * Forbidden, whatever a host's other addresses are: all that no public receiver has. Settings may allow and deny networks.
 */
import { BlockList, isIP } from 'node:net';
import { networkInterfaces } from 'node:os';
import ipaddr from 'ipaddr.js';

/**
 * Settings in addition to the registries: networks that callbacks may reach nevertheless, and networks that they never may;
 * prefixes behind which an IPv6 address stands for an IPv4 address; and this machine's own addresses.
 */
export type CallbackNetworks = {
  allowed: Networks;
  denied: Networks;
  nat64: readonly Nat64Prefix[];
  thisMachine: BlockList;
};

/** Networks by family: a single BlockList would match IPv4 addresses in an IPv6 network such as `::/0`. */
type Networks = Record<AddressFamily, BlockList>;

type AddressFamily = 'ipv4' | 'ipv6';

/** An IPv6 prefix behind which a translator has the IPv4 internet (RFC 6052); `bytes`: its length. */
type Nat64Prefix = { network: BlockList; bytes: number };

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

// For IPv6 the reverse: only global unicast is allowed, without the networks that the registry reserves within it.
const GLOBAL_IPV6 = networksOf(['2000::/3']);
const FORBIDDEN_IPV6_NETWORKS = ['2001::/23', '2001:db8::/32', '2002::/16', '2620:4f:8000::/48', '3fff::/20'];
const FORBIDDEN_IPV6 = networksOf(FORBIDDEN_IPV6_NETWORKS);

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

function isForbidden(address: string, family: AddressFamily, { allowed, thisMachine }: CallbackNetworks): boolean {
  if (allowed[family].check(address, family)) return false;
  if (thisMachine.check(address, family)) return true;
  if (family === 'ipv4') return FORBIDDEN_IPV4[family].check(address, family);
  return (
    !GLOBAL_IPV6[family].check(address, family) || FORBIDDEN_IPV6[family].check(address, family) || isIsatap(address)
  );
}

/** RFC 5214, 6.1: after any network prefix, the second half is 0000:5efe or 0200:5efe and an IPv4 address. */
function isIsatap(address: string): boolean {
  const [, , , , high, low] = ipaddr.IPv6.parse(address).parts;
  return low === 0x5efe && (high === 0 || high === 0x0200);
}

/** Whether a setting allows the address. */
export function isAllowedAddress(address: string, { allowed }: Pick<CallbackNetworks, 'allowed'>): boolean {
  const family = familyOf(address);
  return family !== undefined && allowed[family].check(address, family);
}

/** Whether settings allow any network, as for receivers inside the operator's own. */
export const allowsAny = ({ allowed }: Pick<CallbackNetworks, 'allowed'>): boolean => allowed.ipv6.rules.length > 0;

/**
 * Reads networks in CIDR form, and prefixes of a NAT64 besides the well-known one. Throws, naming the entry, if one is invalid.
 */
export function readNetworks(
  allow: readonly string[],
  deny: readonly string[] = [],
  nat64: readonly string[] = [],
): CallbackNetworks {
  return {
    allowed: networksOf(allow),
    denied: networksOf(deny),
    nat64: readNat64(nat64),
    thisMachine: machineAddresses(),
  };
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

function familyOf(address: string): AddressFamily | undefined {
  if (isIP(address) === 0) return undefined;
  return isIP(address) === 4 ? 'ipv4' : 'ipv6';
}

/** A public address of this machine would lead callbacks to other servers on it. */
function machineAddresses(): BlockList {
  const addresses = new BlockList();
  for (const { address } of Object.values(networkInterfaces()).flatMap((each) => each ?? [])) {
    const family = familyOf(address);
    if (family !== undefined) addresses.addAddress(address, family);
  }
  return addresses;
}

/** RFC 6052, 2.1: the prefix of translators without one of their own. */
const WELL_KNOWN_NAT64 = '64:ff9b::/96';
const NAT64_LENGTHS = [32, 40, 48, 56, 64, 96];
/** RFC 6052, 2.2: the octet after the first 64 bits is zero, and no part of the IPv4 address. */
const RESERVED_BYTE = 8;

/** Reads an operator's prefixes and adds the well-known one; the longest first. Throws, naming the entry, if one is invalid. */
export function readNat64(prefixes: readonly string[]): Nat64Prefix[] {
  return [WELL_KNOWN_NAT64, ...prefixes].map(readNat64Prefix).toSorted((one, other) => other.bytes - one.bytes);
}

function readNat64Prefix(text: string): Nat64Prefix {
  const [address = '', length = ''] = text.split('/');
  const isPrefix = isIP(address) === 6 && !address.includes('%') && NAT64_LENGTHS.includes(Number(length));
  if (!isPrefix) {
    throw new Error(
      `"${text}" is no prefix of a NAT64: write it as 2001:db8:64::/96, with a length of ${NAT64_LENGTHS.join(', ')}`,
    );
  }
  if (bytesOf(address)[RESERVED_BYTE] !== 0) {
    throw new Error(`"${text}" is no prefix of a NAT64: its bits 64 to 71 are not zero (RFC 6052, 2.2)`);
  }
  const network = new BlockList();
  network.addSubnet(address, Number(length), 'ipv6');
  return { network, bytes: Number(length) / 8 };
}

/**
 * Returns the IPv4 address that an IPv6 address leads to through a NAT64, by its longest prefix; undefined if it has none of
 * them; null if no translator could tell where it leads.
 */
function ipv4Inside(address: string, prefixes: readonly Nat64Prefix[]): string | null | undefined {
  const prefix = prefixes.find(({ network }) => network.check(address, 'ipv6'));
  if (prefix === undefined) return undefined;
  const bytes = bytesOf(address);
  if (bytes[RESERVED_BYTE] !== 0) return null;
  return bytes
    .filter((_, place) => place >= prefix.bytes && place !== RESERVED_BYTE)
    .slice(0, 4)
    .join('.');
}

const bytesOf = (address: string): number[] => ipaddr.IPv6.parse(address).toByteArray();

/** Ports of servers that are no web servers and might misunderstand a request. */
export const DENIED_PORTS = [
  // The Fetch standard blocks these, which include mail, name, file, directory and remote login services.
  '1,7,9,11,13,15,17,19-23,25,37,42,43,53,69,77,79,87,95,101-104,109-111,113,115,117,119,123,135,137,139,143,161,179',
  '389,427,465,512-515,526,530-532,540,548,554,556,563,587,601,636,989,990,993,995,1719,1720,1723,2049,3659,4045,4190',
  '5060,5061,6000,6566,6665-6669,6679,6697,10080',
  // Further ones of remote login, names, databases and messages.
  '3389,5900',
  '2181,2379,2380,4369',
  '1433,1521,3306,5432,6379,9042,11211,27017-27019',
  '1883,5671,5672,9092,25672',
].flatMap((row) => row.split(','));

/** Whether callbacks must not be sent to the port of this address, or to its scheme's default if it names none. */
export function isForbiddenPort(
  { protocol, port }: { protocol: string; port: string | null },
  denied: ReadonlySet<number>,
): boolean {
  const number = Number(port || (protocol === 'https:' ? 443 : 80));
  return number === 0 || denied.has(number);
}

const LAST_PORT = 65_535;

/** Reads ports and ranges of ports. Throws, naming the entry, if one is neither. */
export function readPorts(entries: readonly string[]): ReadonlySet<number> {
  return new Set(entries.flatMap(readPortRange));
}

function readPortRange(entry: string): number[] {
  const [, first = '', last = first] = /^(\d{1,5})(?:-(\d{1,5}))?$/.exec(entry) ?? [];
  const length = Number(last) - Number(first) + 1;
  if (first === '' || length < 1 || Number(last) > LAST_PORT) {
    throw new Error(`"${entry}" is neither a port nor a range of ports: write it as 6379 or 1-79`);
  }
  return Array.from({ length }, (_, index) => Number(first) + index);
}

const ANYWHERE = { ...readNetworks([]), thisMachine: new BlockList() };

/**
 * Reads networks and single addresses from which callbacks come, and writes each as a network: `203.0.113.7` is
 * `203.0.113.7/32`. Throws, naming the entry, if one is neither. What no public receiver can see, such as a private network, is
 * refused unless there are receivers inside.
 */
export function readSourceNetworks(entries: readonly string[], { areInside }: { areInside: boolean }): string[] {
  const networks = [...new Set(entries.map(readSourceNetwork))];
  const unseen = areInside ? undefined : networks.find((network) => !isPublicNetwork(network));
  if (unseen === undefined) return networks;
  throw new Error(
    `"${unseen}" is, or holds, addresses that no public receiver can see: write the public ones, such as your NAT gateway's; ` +
      'where receivers are inside your network, CALLBACK_ALLOW_NETWORKS has to name theirs',
  );
}

function readSourceNetwork(entry: string): string {
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

/** Whether every address of a network, written with its first address, can be seen on the public internet. */
function isPublicNetwork(cidr: string): boolean {
  const [address = ''] = cidr.split('/');
  const family = familyOf(address);
  if (family === undefined || isForbidden(address, family, ANYWHERE)) return false;
  const forbidden = family === 'ipv4' ? FORBIDDEN_IPV4_NETWORKS : FORBIDDEN_IPV6_NETWORKS;
  const network = networksOf([cidr])[family];
  // If two networks overlap, one contains the other's first address.
  return !forbidden.some((each) => network.check(each.split('/')[0] ?? '', family));
}

/**
 * Finds the IP address in the forms that proxies and sockets write: `192.0.2.1`, `192.0.2.1:443`, `[2001:db8::1]:443`,
 * `"[fe80::1%eth0]"`, `::ffff:192.0.2.1`. Returns its canonical form (RFC 5952; a mapped IPv4 address as IPv4) without port,
 * brackets, quotes or zone. Undefined if there is none.
 */
export function addressIn(text: string): string | undefined {
  const unquoted = text.trim().replace(/^(["'])(.*)\1$/s, '$2');
  const [bare = ''] = (/^\[(.*)\](:[\w.-]*)?$/.exec(unquoted)?.[1] ?? unquoted).split('%');
  // A port may be a word too (RFC 7239, 6); IPv6 without brackets is tried as a whole first.
  const found = [bare, bare.replace(/:[\w.-]*$/, '')].find((each) => isIP(each) !== 0);
  return found === undefined ? undefined : ipaddr.process(found).toString();
}

/** Matches what no URI has in its path or query (RFC 3986, 3.3 and 3.4), though the URL standard leaves it: servers refuse it. */
const FOREIGN = /[^\w\-.~!$&'()*+,;=:@/?%]|%(?![\da-f]{2})/gi;
const LONE_PERCENT = /%(?![\da-f]{2})/i;

/** Reads a URL as the URL standard does, with path and query encoded as RFC 3986 wants them; null if it is none. */
export function parseStrictUrl(text: string): URL | null {
  const url = URL.parse(text);
  // Setting a part reads the URL once more.
  if (url !== null && url.pathname.search(FOREIGN) !== -1) url.pathname = url.pathname.replaceAll(FOREIGN, encoded);
  if (url !== null && url.search.search(FOREIGN) !== -1) url.search = url.search.replaceAll(FOREIGN, encoded);
  return url;
}

// The URL standard has encoded what is not ASCII.
const encoded = (character: string): string =>
  `%${character.charCodeAt(0).toString(16).toUpperCase().padStart(2, '0')}`;

/** Returns where a `%` begins no escape, counted from 1; undefined if there is none. */
export function lonePercentIn(text: string): number | undefined {
  const at = text.search(LONE_PERCENT);
  return at === -1 ? undefined : at + 1;
}
