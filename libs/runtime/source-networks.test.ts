import { describe, expect, test } from '@jest/globals';
import { readSourceNetworks } from './networks.ts';

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
