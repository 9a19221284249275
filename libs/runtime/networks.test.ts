import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import fc from 'fast-check';
import {
  addressIn,
  DENIED_PORTS,
  isForbiddenAddress,
  isForbiddenPort,
  readNetworks,
  readPorts,
  readSourceNetworks,
} from './networks.ts';
import registry from './testing/special-purpose-addresses.json' with { type: 'json' };

const none = readNetworks([]);

describe('isForbiddenAddress', () => {
  test.each([
    '127.0.0.1',
    '0.0.0.0',
    '10.1.2.3',
    '172.31.255.255',
    '192.168.0.1',
    '169.254.169.254',
    '168.63.129.16',
    '100.64.0.1',
    '224.0.0.1',
    '255.255.255.255',
    '::',
    '::1',
    '::ffff:127.0.0.1',
    '::ffff:8.8.8.8',
    '::7f00:1',
    '64:ff9b::7f00:1',
    '64:ff9b::a00:1',
    '64:ff9b:1::808:808',
    '64:ff9b::808:808%eth0',
    '2002:7f00:1::',
    '2001::1',
    'fe80::1',
    'fe80::1%eth0',
    'fc00::1',
    'fd00:ec2::254',
    'ff02::1',
    '4000::1',
    '::5efe:7f00:1',
    'localhost',
    '',
  ])('forbids %s', (address) => {
    expect(isForbiddenAddress(address, none)).toBe(true);
  });

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e', '64:ff9b::808:808'])(
    'allows %s',
    (address) => {
      expect(isForbiddenAddress(address, none)).toBe(false);
    },
  );

  test('allows what the setting lists, and nothing beside it', () => {
    const allowed = readNetworks(['127.0.0.0/8', '::1/128']);
    expect(isForbiddenAddress('127.0.0.1', allowed)).toBe(false);
    expect(isForbiddenAddress('::1', allowed)).toBe(false);
    expect(isForbiddenAddress('10.0.0.1', allowed)).toBe(true);
  });
});

test('networks of IPv6 say nothing of IPv4, whether they are allowed or denied', () => {
  for (const network of ['::/0', '::ffff:0:0/96']) {
    expect(isForbiddenAddress('10.0.0.1', readNetworks([network]))).toBe(true);
    expect(isForbiddenAddress('64:ff9b::a00:1', readNetworks([network]))).toBe(true);
    expect(isForbiddenAddress('8.8.8.8', readNetworks([], [network]))).toBe(false);
  }
  expect(isForbiddenAddress('fd00::1', readNetworks(['::/0']))).toBe(false);
  expect(isForbiddenAddress('::ffff:10.0.0.1', readNetworks(['10.0.0.0/8']))).toBe(false);
});

describe('isForbiddenAddress, where networks are denied,', () => {
  test('forbids them, even those allowed too, and nothing beside them', () => {
    const networks = readNetworks(['10.0.0.0/8'], ['8.8.8.0/24', '10.9.0.0/16', '2606:4700:64::/96']);
    expect(isForbiddenAddress('8.8.8.8', networks)).toBe(true);
    expect(isForbiddenAddress('10.9.0.1', networks)).toBe(true);
    expect(isForbiddenAddress('2606:4700:64::7f00:1', networks)).toBe(true);
    expect(isForbiddenAddress('8.8.4.4', networks)).toBe(false);
    expect(isForbiddenAddress('10.8.0.1', networks)).toBe(false);
    expect(isForbiddenAddress('2606:4700:64:1::1', networks)).toBe(false);
  });
});

describe('an address of a NAT64', () => {
  // RFC 6052, 2.4: 192.0.2.33 behind prefixes of each length.
  const samples: [string, string][] = [
    ['2001:db8::/32', '2001:db8:c000:221::'],
    ['2001:db8:100::/40', '2001:db8:1c0:2:21::'],
    ['2001:db8:122::/48', '2001:db8:122:c000:2:2100::'],
    ['2001:db8:122:300::/56', '2001:db8:122:3c0:0:221::'],
    ['2001:db8:122:344::/64', '2001:db8:122:344:c0:2:2100:0'],
    ['2001:db8:122:344::/96', '2001:db8:122:344::192.0.2.33'],
    ['64:ff9b:1::/48', '64:ff9b:1:c000:2:2100::'],
  ];

  test.each(samples)('of %s is judged by the IPv4 address inside: %s', (prefix, address) => {
    const forbidden = (allow: string[], deny: string[] = []) =>
      isForbiddenAddress(address, readNetworks(allow, deny, [prefix]));
    // The address inside is of a network for documentation.
    expect(forbidden([])).toBe(true);
    expect(forbidden(['192.0.2.32/31'])).toBe(false);
    expect(forbidden(['192.0.2.34/32'])).toBe(true);
    expect(forbidden([prefix])).toBe(true);
    expect(forbidden(['192.0.2.0/24'], ['192.0.2.33/32'])).toBe(true);
    expect(forbidden(['192.0.2.0/24'], [prefix])).toBe(true);
    expect(isForbiddenAddress(address, readNetworks(['192.0.2.0/24']))).toBe(true);
  });

  test('is forbidden where it is none by the RFC', () => {
    const networks = readNetworks([], [], ['2001:db8::/32']);
    expect(isForbiddenAddress('2001:db8:808:808::', networks)).toBe(false);
    expect(isForbiddenAddress('2001:db8:808:808:100::', networks)).toBe(true);
  });

  test('is read by the longest prefix that it has', () => {
    const networks = readNetworks([], [], ['64:ff9b:1::/48', '64:ff9b:1:a00::/96']);
    expect(isForbiddenAddress('64:ff9b:1:a00::808:808', networks)).toBe(false);
    expect(isForbiddenAddress('64:ff9b:1:a01::808:808', networks)).toBe(true);
  });
});

test('an address of this very machine is forbidden, also behind a NAT64, unless it is allowed', () => {
  const own = Object.values(networkInterfaces())
    .flatMap((each) => each ?? [])
    .find(({ family }) => family === 'IPv4');
  const networks = { ...readNetworks([]), thisMachine: new BlockList() };
  networks.thisMachine.addAddress('8.8.8.8');
  expect(readNetworks([]).thisMachine.check(own?.address ?? '127.0.0.1')).toBe(true);
  expect(isForbiddenAddress('8.8.8.8', networks)).toBe(true);
  expect(isForbiddenAddress('64:ff9b::8.8.8.8', networks)).toBe(true);
  expect(isForbiddenAddress('8.8.4.4', networks)).toBe(false);
  expect(isForbiddenAddress('8.8.8.8', { ...networks, allowed: readNetworks(['8.8.8.8/32']).allowed })).toBe(false);
});

describe('readNetworks', () => {
  test.each(['64:ff9b::', '64:ff9b::/95', '10.0.0.0/32', '2001:db8:0:0:100::/96', 'x/96', ''])(
    'refuses %p as the prefix of a NAT64, and names it',
    (prefix) => {
      expect(() => readNetworks([], [], [prefix])).toThrow(`"${prefix}"`);
    },
  );

  test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', ''])('refuses %p and names it', (cidr) => {
    expect(() => readNetworks([cidr])).toThrow(`"${cidr}"`);
    expect(() => readNetworks([], [cidr])).toThrow(`"${cidr}"`);
  });
});

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

const read = (...entries: string[]) => readSourceNetworks(entries, { areInside: false });

describe('readSourceNetworks', () => {
  test.each([
    ['8.8.8.0/28', '8.8.8.0/28'],
    ['8.8.8.7', '8.8.8.7/32'],
    ['2A00:1450:0::/48', '2a00:1450::/48'],
    ['2a00:1450::7', '2a00:1450::7/128'],
  ])('takes %s, and writes it as %s', (entry, network) => {
    expect(read(entry)).toEqual([network]);
  });

  test('names each network once', () => {
    expect(read('8.8.8.7', '8.8.8.7/32', '1.1.1.0/24')).toEqual(['8.8.8.7/32', '1.1.1.0/24']);
  });

  test.each([
    '',
    '8.8.8.8/',
    '8.8.8.8/33',
    '8.8.8.8/a',
    '8.8.8/24',
    '2a00::/129',
    'fe80::1%eth0',
    'nat.example',
    '0.0.0.0/0',
    '::/0',
  ])('refuses "%s"', (entry) => {
    expect(() => read('1.1.1.1', entry)).toThrow(`"${entry}" is neither a network nor an address: write it as`);
  });

  test('refuses an address within a network, and says which network it may be', () => {
    expect(() => read('8.8.8.7/28')).toThrow('"8.8.8.7/28" names an address within its network: write 8.8.8.0/28, or');
    expect(() => read('2a00:1450::7/48')).toThrow('write 2a00:1450::/48, or');
  });

  test.each([
    '10.0.0.0/8',
    '10.1.2.3',
    '192.168.0.0/24',
    '100.64.0.0/12',
    '127.0.0.1',
    '8.0.0.0/6',
    '128.0.0.0/1',
    'fd00::/8',
    '::1',
    '::ffff:8.8.8.8',
    '2000::/3',
    '2001:db8:9::/48',
  ])('refuses %s, which no public receiver can see, or not all of it, unless there are receivers inside', (entry) => {
    expect(() => read(entry)).toThrow(/is, or holds, addresses that no public receiver can see/);
    expect(readSourceNetworks([entry], { areInside: true })).toHaveLength(1);
  });
});

describe('readPorts', () => {
  test('reads ports and ranges with both their ends', () => {
    expect([...readPorts(['6379', '20-22'])]).toEqual([6379, 20, 21, 22]);
  });

  test.each(['', 'x', '-1', '1-', '3-1', '65536', '1-65536', '1,2'])('refuses %p and names it', (entry) => {
    expect(() => readPorts([entry])).toThrow(`"${entry}"`);
  });
});

describe('isForbiddenPort', () => {
  const denied = readPorts(DENIED_PORTS);

  test.each(['22', '25', '6379', '5672', '0'])('forbids %s', (port) => {
    expect(isForbiddenPort({ protocol: 'https:', port }, denied)).toBe(true);
  });

  test.each(['', '443', '80', '444', '2375', '3000', '8080', '8443', '8883', '9000', '65535'])(
    'allows "%s"',
    (port) => {
      expect(isForbiddenPort({ protocol: 'https:', port }, denied)).toBe(false);
    },
  );

  test('takes the port of the scheme where none is named', () => {
    expect(isForbiddenPort({ protocol: 'http:', port: '' }, readPorts(['80']))).toBe(true);
    expect(isForbiddenPort({ protocol: 'https:', port: '' }, readPorts(['80']))).toBe(false);
  });
});

describe('addressIn', () => {
  test.each([
    ['192.0.2.1', '192.0.2.1'],
    [' 192.0.2.1\t', '192.0.2.1'],
    ['192.0.2.1:51234', '192.0.2.1'],
    ['192.0.2.1:', '192.0.2.1'],
    ['192.0.2.1:_port', '192.0.2.1'],
    ['"192.0.2.1:80"', '192.0.2.1'],
    ['2001:db8::1', '2001:db8::1'],
    ['2001:DB8:0:0:0:0:0:1', '2001:db8::1'],
    ['2001:0db8:0000::0001', '2001:db8::1'],
    ['[2001:db8::1]', '2001:db8::1'],
    ['[2001:db8::1]:443', '2001:db8::1'],
    ['"[2001:db8::1]:443"', '2001:db8::1'],
    ['2001:db8:0:0:0:0:0:1:443', '2001:db8::1'],
    ['fe80::1%eth0', 'fe80::1'],
    ['[fe80::1%25eth0]:443', 'fe80::1'],
    ['::ffff:192.0.2.1', '192.0.2.1'],
    ['[::ffff:c000:201]:443', '192.0.2.1'],
  ])('in %p is %s', (text, address) => {
    expect(addressIn(text)).toBe(address);
  });

  test.each([
    '',
    'unknown',
    '_hidden',
    'localhost:80',
    '192.0.2',
    '192.0.2.256:80',
    '3221225985',
    '0x7f.1',
    '[192.0.2.1',
    '192.0.2.1 192.0.2.2',
    '[2001:db8::1]x',
    'for=192.0.2.1',
    '192.0.2.1:80:90',
  ])('in %p is none', (text) => {
    expect(addressIn(text)).toBeUndefined();
  });
});
