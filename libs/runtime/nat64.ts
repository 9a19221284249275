import { BlockList, isIP } from 'node:net';
import ipaddr from 'ipaddr.js';

/** IPv6 prefix behind which a translator has the IPv4 internet (RFC 6052); `bytes`: its length. */
export type Nat64Prefix = { network: BlockList; bytes: number };

/** RFC 6052, 2.1: the prefix of translators without one of their own. */
const WELL_KNOWN = '64:ff9b::/96';
const LENGTHS = [32, 40, 48, 56, 64, 96];
/** RFC 6052, 2.2: the octet after the first 64 bits is zero, and no part of the IPv4 address. */
const RESERVED_BYTE = 8;

/** Reads an operator's prefixes and adds the well-known one; the longest first. Throws, naming the entry, if one is invalid. */
export function readNat64(prefixes: readonly string[]): Nat64Prefix[] {
  return [WELL_KNOWN, ...prefixes].map(readPrefix).toSorted((one, other) => other.bytes - one.bytes);
}

function readPrefix(text: string): Nat64Prefix {
  const [address = '', length = ''] = text.split('/');
  const isPrefix = isIP(address) === 6 && !address.includes('%') && LENGTHS.includes(Number(length));
  if (!isPrefix) {
    throw new Error(
      `"${text}" is no prefix of a NAT64: write it as 2001:db8:64::/96, with a length of ${LENGTHS.join(', ')}`,
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
export function ipv4Inside(address: string, prefixes: readonly Nat64Prefix[]): string | null | undefined {
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
