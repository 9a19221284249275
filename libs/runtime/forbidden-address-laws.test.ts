import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import { isForbiddenAddress, readNetworks } from './networks.ts';
import registry from './testing/special-purpose-addresses.json' with { type: 'json' };

/** Laws over all addresses there are, told from IANA's special-purpose registries by arithmetic of their own. */
type Block = { first: bigint; size: bigint };

const IPV4_BITS = 32n;
const IPV6_BITS = 128n;
const WIRE_SERVER = parseIpv4('168.63.129.16');
const RUNS = { numRuns: 5_000 };

const nothing = readNetworks([]);
const isForbidden = (address: string) => isForbiddenAddress(address, nothing);

function parseIpv4(text: string): bigint {
  return text.split('.').reduce((sum, part) => (sum << 8n) + BigInt(part), 0n);
}

function parseIpv6(text: string): bigint {
  const [head = [], tail = []] = text.split('::').map((half) => half.split(':').filter(Boolean));
  const zeros = Array.from({ length: 8 - head.length - tail.length }, () => '0');
  return [...head, ...zeros, ...tail].reduce((sum, group) => (sum << 16n) + BigInt(`0x${group}`), 0n);
}

const partsOf = (value: bigint, count: number, bits: bigint) =>
  Array.from({ length: count }, (_, index) => (value >> (BigInt(count - 1 - index) * bits)) & ((1n << bits) - 1n));
const writeIpv4 = (value: bigint) => partsOf(value, 4, 8n).join('.');
const writeIpv6 = (value: bigint) =>
  partsOf(value, 8, 16n)
    .map((part) => part.toString(16))
    .join(':');

function blocksOf(cidrs: string[], parse: (text: string) => bigint, bits: bigint): Block[] {
  return cidrs.map((cidr) => {
    const [address = '', length = ''] = cidr.split('/');
    return { first: parse(address), size: 1n << (bits - BigInt(length)) };
  });
}

const ipv4Blocks = blocksOf([...registry.ipv4, ...registry.multicast.slice(0, 1)], parseIpv4, IPV4_BITS);
const ipv6Blocks = blocksOf([...registry.ipv6, ...registry.multicast.slice(1)], parseIpv6, IPV6_BITS);
const isIn = (blocks: Block[], value: bigint) =>
  blocks.some(({ first, size }) => value >= first && value < first + size);

/** Both ends of the block, what is just outside them, and anything in between. */
const around = (blocks: Block[], bits: bigint) =>
  fc
    .constantFrom(...blocks)
    .chain(({ first, size }) =>
      fc.oneof(
        fc.constantFrom(first - 1n, first, first + size - 1n, first + size),
        fc.bigInt(first, first + size - 1n),
      ),
    )
    .filter((value) => value >= 0n && value < 1n << bits);

const anywhere = (blocks: Block[], bits: bigint) => fc.oneof(fc.bigInt(0n, (1n << bits) - 1n), around(blocks, bits));

describe('isForbiddenAddress, over the whole address space,', () => {
  test('forbids of IPv4 what is set aside or multicast, and the wire server, and nothing else', () => {
    const law = (value: bigint) =>
      expect([writeIpv4(value), isForbidden(writeIpv4(value))]).toEqual([
        writeIpv4(value),
        isIn(ipv4Blocks, value) || value === WIRE_SERVER,
      ]);
    law(WIRE_SERVER);
    fc.assert(fc.property(anywhere(ipv4Blocks, IPV4_BITS), law), RUNS);
  });

  test('forbids of IPv6 what is set aside, multicast or not global unicast, and ISATAP, and nothing else; of a NAT64 what is forbidden of IPv4', () => {
    const isNat64 = (value: bigint) => value >> 32n === 0x64_ff9bn << 64n;
    const isGlobal = (value: bigint) => value >> 125n === 1n;
    const isIsatap = (value: bigint) => [0x5efen, 0x2005efen].includes((value >> 32n) & 0xffff_ffffn);
    const isatap = fc
      .tuple(
        fc.bigInt(0x2600n << 48n, 0x2aff_ffff_ffff_ffffn),
        fc.constantFrom(0x5efen, 0x2005efen),
        fc.bigInt(0n, 0xffff_ffffn),
      )
      .map(([network, mark, ipv4]) => (network << 64n) + (mark << 32n) + ipv4);
    const global = fc.bigInt(1n << 125n, (1n << 126n) - 1n);
    const law = (value: bigint) =>
      expect([writeIpv6(value), isForbidden(writeIpv6(value))]).toEqual([
        writeIpv6(value),
        isNat64(value)
          ? isForbidden(writeIpv4(value & 0xffff_ffffn))
          : isIn(ipv6Blocks, value) || !isGlobal(value) || isIsatap(value),
      ]);
    fc.assert(fc.property(fc.oneof(anywhere(ipv6Blocks, IPV6_BITS), global, isatap), law), RUNS);
  });

  test('forbids behind each prefix of a NAT64 what it forbids of IPv4, and nothing else', () => {
    // RFC 6052, 2.2: the address follows the prefix, and leaves out the octet behind 64 bits.
    const behind = (bits: bigint, ipv4: bigint) => {
      if (bits === 96n) return ipv4;
      const before = 64n - bits;
      const after = 32n - before;
      return ((ipv4 >> after) << 64n) + ((ipv4 & ((1n << after) - 1n)) << (56n - after));
    };
    const prefix = parseIpv6('2a00:1450::');
    const lengths = [32n, 40n, 48n, 56n, 64n, 96n].map((bits) => ({
      bits,
      networks: readNetworks([], [], [`2a00:1450::/${bits}`]),
    }));
    fc.assert(
      fc.property(fc.constantFrom(...lengths), anywhere(ipv4Blocks, IPV4_BITS), ({ bits, networks }, ipv4) => {
        const address = writeIpv6(prefix + behind(bits, ipv4));
        expect([address, isForbiddenAddress(address, networks)]).toEqual([address, isForbidden(writeIpv4(ipv4))]);
      }),
      RUNS,
    );
  });

  test('forbids every IPv4 address in every other IPv6 form that carries one', () => {
    const behind = (prefix: string) => (ipv4: bigint) => parseIpv6(`${prefix}0:0`) + ipv4;
    const forms = [
      ...['::ffff:', '::', '64:ff9b:1::', '::ffff:0:', '2606:4700::5efe:', '2606:4700::200:5efe:'].map(behind),
      // 6to4 (RFC 3056), the server of Teredo and its client, whose bits are turned round (RFC 4380).
      (ipv4: bigint) => (0x2002n << 112n) + (ipv4 << 80n),
      (ipv4: bigint) => (0x20010000n << 96n) + (ipv4 << 64n),
      (ipv4: bigint) => (0x20010000n << 96n) + (ipv4 ^ 0xffff_ffffn),
      // Behind 48 bits an address is parted by an octet that is zero (RFC 6052, 2.2).
      (ipv4: bigint) => (0x0064_ff9b_0001n << 80n) + ((ipv4 >> 16n) << 64n) + ((ipv4 & 0xffffn) << 40n),
    ];
    const law = (form: (ipv4: bigint) => bigint, ipv4: bigint) =>
      expect([writeIpv6(form(ipv4)), isForbidden(writeIpv6(form(ipv4)))]).toEqual([expect.anything(), true]);
    fc.assert(fc.property(fc.constantFrom(...forms), fc.bigInt(0n, 0xffff_ffffn), law), RUNS);
  });
});
