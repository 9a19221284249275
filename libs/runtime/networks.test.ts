import { BlockList } from 'node:net';
import { networkInterfaces } from 'node:os';
import { describe, expect, test } from '@jest/globals';
import { isForbiddenAddress, readNetworks } from './networks.ts';

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
  const networks = { ...readNetworks([]), own: new BlockList() };
  networks.own.addAddress('8.8.8.8');
  expect(readNetworks([]).own.check(own?.address ?? '127.0.0.1')).toBe(true);
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
