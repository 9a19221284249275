import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, test } from '@jest/globals';
import { followSystemNames, namesToAsk, readHosts, readResolvConf } from './resolve-host.ts';

describe('readHosts', () => {
  test('reads every name of an address, and every address of a name', () => {
    const hosts = readHosts(
      '127.0.0.1 localhost Me. # comment\n\n::1\tlocalhost ip6-localhost\nnonsense x\n#1.2.3.4 y\n',
    );
    expect(Object.fromEntries(hosts)).toEqual({
      localhost: [
        { address: '127.0.0.1', family: 4 },
        { address: '::1', family: 6 },
      ],
      me: [{ address: '127.0.0.1', family: 4 }],
      'ip6-localhost': [{ address: '::1', family: 6 }],
    });
  });
});

describe('readResolvConf', () => {
  const nothing = { servers: [], search: [], ndots: 1 };
  test.each([
    ['nameserver 10.0.0.1\nnameserver fe80::1%eth0 # ours\nnameserver x', { servers: ['10.0.0.1', 'fe80::1%eth0'] }],
    ['search a.example b.example.\noptions timeout:1 ndots:5', { search: ['a.example', 'b.example'], ndots: 5 }],
    ['search a.example\ndomain b.example', { search: ['b.example'] }],
    ['search .', {}],
    ['options ndots:5\noptions edns0 ndots:0', { ndots: 0 }],
  ])('reads %j', (text, expected) => {
    expect(readResolvConf(text)).toEqual({ ...nothing, ...expected });
  });
});

describe('namesToAsk', () => {
  const search = ['x.example', 'example'];
  test.each([
    ['hooks', 1, ['hooks.x.example', 'hooks.example', 'hooks']],
    ['hooks', 5, ['hooks.x.example', 'hooks.example', 'hooks']],
    ['hooks', 0, ['hooks', 'hooks.x.example', 'hooks.example']],
    ['hooks.', 5, ['hooks']],
    ['api.dev', 1, ['api.dev']],
    ['api.dev', 5, ['api.dev']],
    ['hooks.api.partner.example', 15, ['hooks.api.partner.example']],
    ['api.dev.', 5, ['api.dev']],
    ['api.dev..', 5, ['api.dev']],
  ])('asks of %s with ndots %d for what is meant', (host, ndots, expected) => {
    expect(namesToAsk(host, { search, ndots })).toEqual(expected);
  });
});

describe('followSystemNames', () => {
  let folder = '';
  const at = (name: string) => join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybell-names-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Reads a hosts file and one of name servers, which are links, as many systems have them. */
  function following() {
    writeFileSync(at('hosts-1'), '192.0.2.1 a.example');
    writeFileSync(at('resolv-1'), 'nameserver 192.0.2.53\nsearch x.example');
    symlinkSync(at('hosts-1'), at('hosts'));
    symlinkSync(at('resolv-1'), at('resolv.conf'));
    return followSystemNames({ hosts: at('hosts'), resolvConf: at('resolv.conf') });
  }

  test('says the same as long as the files do', () => {
    const read = following();
    const names = read();
    expect(names).toMatchObject({ servers: ['192.0.2.53'], search: ['x.example'], ndots: 1 });
    writeFileSync(at('resolv-1'), 'nameserver 192.0.2.53\nsearch x.example');
    expect(read()).toBe(names);
  });

  test.each<[string, () => void]>([
    ['written over', () => writeFileSync(at('resolv-1'), 'nameserver 192.0.2.54')],
    [
      'put in the place of the other',
      () => {
        writeFileSync(at('resolv.conf.new'), 'nameserver 192.0.2.54');
        renameSync(at('resolv.conf.new'), at('resolv.conf'));
      },
    ],
    [
      'linked to another',
      () => {
        writeFileSync(at('resolv-2'), 'nameserver 192.0.2.54');
        rmSync(at('resolv.conf'));
        symlinkSync(at('resolv-2'), at('resolv.conf'));
      },
    ],
  ])('follows a file that is %s', (_, change) => {
    const read = following();
    read();
    change();
    expect(read()).toMatchObject({ servers: ['192.0.2.54'], search: [] });
  });

  test('follows the hosts file', () => {
    const read = following();
    read();
    writeFileSync(at('hosts-1'), '192.0.2.2 A.example. b.example');
    expect(Object.keys(Object.fromEntries(read().hosts))).toEqual(['a.example', 'b.example']);
    expect(read().servers).toEqual(['192.0.2.53']);
  });

  test.each<[string, () => void]>([
    ['empty', () => writeFileSync(at('resolv-1'), '')],
    ['half written', () => writeFileSync(at('resolv-1'), 'search y.exa')],
    ['gone', () => rmSync(at('resolv-1'))],
    ['there, and that of hosts empty', () => writeFileSync(at('hosts-1'), '')],
  ])('goes by what it knew while the file of name servers is %s', (_, break_) => {
    const read = following();
    const before = read();
    break_();
    expect(read()).toEqual(before);
    writeFileSync(at('resolv-1'), 'nameserver 192.0.2.54');
    expect(read().servers).toEqual(['192.0.2.54']);
  });

  test('says nothing where there are no files', () => {
    const read = followSystemNames({ hosts: at('none'), resolvConf: at('none') });
    expect(read()).toEqual({ hosts: new Map(), servers: [], search: [], ndots: 1 });
  });
});
