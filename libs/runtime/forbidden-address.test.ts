import { describe, expect, test } from '@jest/globals';
import { isForbiddenAddress, readNetworks } from './forbidden-address.ts';

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
    '64:ff9b::808:808',
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

  test.each(['8.8.8.8', '172.32.0.1', '100.128.0.1', '2606:4700::1111', '2a00:1450:4001::200e'])(
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

describe('readNetworks', () => {
  test.each(['10.0.0.0', '10.0.0.0/33', 'fd00::/129', 'x/8', ''])('refuses %p and names it', (cidr) => {
    expect(() => readNetworks([cidr])).toThrow(`"${cidr}"`);
    expect(() => readNetworks([], [cidr])).toThrow(`"${cidr}"`);
  });
});
