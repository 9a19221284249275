import { Resolver } from 'node:dns/promises';
import { mkdtempSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, beforeEach, describe, expect, test } from '@jest/globals';
import { dnsServer, type Said } from '../testing/dns-server.ts';
import { until } from '../testing/until.ts';
import { TurnedClock } from '../turned-clock.ts';
import { NameServers, NameServersAway, UnresolvedHost } from './name-servers.ts';
import {
  followSystemNames,
  Names,
  namesToAsk,
  readHosts,
  readResolvConf,
  resolverOf,
  type ResolveHost,
  type SystemNames,
} from './resolve-host.ts';
import { openedByEach } from '../testing/shared.ts';

const opened = openedByEach();

type Given = Partial<SystemNames> & { tryMs?: number; searches?: boolean };

/** A resolver whose only name server says these things (of the root: ''), on a machine without search list and hosts. */
async function resolver(said: Record<string, Said>, { tryMs, searches = true, ...names }: Given = {}) {
  const server = await dnsServer((name) => said[name] ?? 'absent');
  opened.push(server);
  const clock = new TurnedClock(1_000_000);
  const resolveHost = resolverOf({
    names: { hosts: new Map(), search: [], ndots: 1, ...names },
    servers: [server.address],
    clock,
    searches,
    ...(tryMs !== undefined && { tryMs }),
  });
  return { resolveHost, clock, asked: server.asked };
}

const loopDelay = monitorEventLoopDelay();
beforeAll(() => void loopDelay.enable());
afterAll(() => void loopDelay.disable());

/** Why a host is not found. Asked again where name servers seemed to be away because this process stood still. */
const whyNot = (resolveHost: ResolveHost, host: string) =>
  until('it is said why there is no address', async () => {
    loopDelay.reset();
    const why: unknown = await resolveHost(host).catch((error: unknown) => error);
    return why instanceof NameServersAway && stoodStill() ? undefined : why;
  });

const stoodStill = () => loopDelay.max > 100_000_000;

/** Silence is waited for for less long than by the product. */
const IMPATIENT = { tryMs: 250 };

const at = (address: string, ttlSeconds = 60): Said => ({ addresses: [address], ttlSeconds });

describe('resolveHost', () => {
  test('answers with the addresses of both families, version 4 first', async () => {
    const { resolveHost } = await resolver({
      'a.example': { addresses: ['2001:db8::1', '192.0.2.1'], ttlSeconds: 60 },
    });
    expect(await resolveHost('a.example')).toEqual([
      { address: '192.0.2.1', family: 4 },
      { address: '2001:db8::1', family: 6 },
    ]);
  });

  test('asks no name server for what the hosts file knows', async () => {
    const hosts = new Map([['a.example', [{ address: '192.0.2.7', family: 4 }]]]);
    const { resolveHost, asked } = await resolver({ 'a.example': at('192.0.2.1') }, { hosts });
    expect(await resolveHost('a.example')).toEqual([{ address: '192.0.2.7', family: 4 }]);
    expect(asked).toEqual([]);
  });

  test.each(['a.example', 'A.Example', 'a.example.'])(
    'finds %s in the hosts file, however it is written',
    async (host) => {
      const hosts = new Map([['a.example', [{ address: '192.0.2.7', family: 4 }]]]);
      const { resolveHost } = await resolver({}, { hosts });
      expect(await resolveHost(host)).toEqual([{ address: '192.0.2.7', family: 4 }]);
    },
  );

  // A wildcard below a domain of the search list would get what is for another.
  test.each(['absent', 'failure', 'unable'] as const)(
    'never asks a name with a dot below the search list, whatever is said of it: %s',
    async (fault) => {
      const said = { 'hooks.partner.test': fault, 'hooks.partner.test.corp.test': at('192.0.2.1') };
      const { resolveHost, asked } = await resolver(said, { search: ['corp.test'], ndots: 5 });
      expect(await whyNot(resolveHost, 'hooks.partner.test')).toBeInstanceOf(UnresolvedHost);
      expect(new Set(asked)).toEqual(new Set(['hooks.partner.test']));
    },
  );

  test('takes nothing for a name without a dot while it may be another that is meant', async () => {
    const said: Record<string, Said> = { 'hooks.a.test': 'failure', 'hooks.b.test': at('192.0.2.1') };
    const { resolveHost } = await resolver(said, { search: ['a.test', 'b.test'] });
    expect(await whyNot(resolveHost, 'hooks')).toBeInstanceOf(UnresolvedHost);
    said['hooks.a.test'] = 'absent';
    expect(await resolveHost('hooks')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  });

  test('goes through the search list where it has an answer', async () => {
    const { resolveHost, asked } = await resolver(
      { 'hooks.web.svc.cluster.local': at('192.0.2.1') },
      { search: ['web.svc.cluster.local', 'svc.cluster.local'], ndots: 5 },
    );
    expect(await resolveHost('hooks')).toEqual([{ address: '192.0.2.1', family: 4 }]);
    expect(new Set(asked)).toEqual(new Set(['hooks.web.svc.cluster.local']));
  });

  // A domain of the list may be anybody's: only who has receivers inside goes through it.
  test('asks a name without a dot as it stands, unless told to search', async () => {
    const said = { 'hooks.corp.test': at('192.0.2.1') };
    const { resolveHost, asked } = await resolver(said, { search: ['corp.test'], ndots: 5, searches: false });
    expect(await whyNot(resolveHost, 'hooks')).toBeInstanceOf(UnresolvedHost);
    expect(new Set(asked)).toEqual(new Set(['hooks']));
  });

  test.each([
    ['its TTL', 60, 60],
    ['a second where its TTL is 0', 0, 1],
    ['five minutes where its TTL is longer', 86_400, 300],
  ])('remembers an answer for %s', async (_, ttlSeconds, heldSeconds) => {
    const said = { 'a.example': at('192.0.2.1', ttlSeconds) };
    const { resolveHost, clock, asked } = await resolver(said);
    await resolveHost('a.example');
    const askedOnce = asked.length;
    clock.skipTo(clock.now() + heldSeconds * 1_000);
    await resolveHost('a.example');
    expect(asked).toHaveLength(askedOnce);

    said['a.example'] = at('192.0.2.2');
    clock.skipTo(clock.now() + 1);
    expect(await resolveHost('a.example')).toEqual([{ address: '192.0.2.2', family: 4 }]);
  });

  test('does not remember that there was no answer', async () => {
    const said: Record<string, Said> = {};
    const { resolveHost } = await resolver(said);
    await expect(resolveHost('a.example')).rejects.toThrow(UnresolvedHost);
    said['a.example'] = at('192.0.2.1');
    expect(await resolveHost('a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
  });

  test('asks once for all callers at the same time', async () => {
    const { resolveHost, asked } = await resolver({ 'a.example': at('192.0.2.1') });
    await Promise.all(Array.from({ length: 50 }, () => resolveHost('a.example')));
    expect(asked).toEqual(['a.example', 'a.example']);
  });

  // Some name servers and firewalls drop the questions for AAAA.
  test.each([
    [6, '192.0.2.1', 4],
    [4, '2001:db8::1', 6],
  ] as const)(
    'waits a little for addresses of version %i that nobody tells, and soon asks again',
    async (drops, address, family) => {
      const said: Record<string, Said> = { 'a.example': { addresses: [address], ttlSeconds: 60, drops } };
      const { resolveHost, clock } = await resolver(said, { tryMs: 60_000 });
      const found = resolveHost('a.example');
      await until('one kind is told', () => clock.nextAt() === clock.now() + 250);
      await clock.runFor(250);
      expect(await found).toEqual([{ address, family }]);

      said['a.example'] = { addresses: ['192.0.2.1', '2001:db8::1'], ttlSeconds: 60 };
      clock.skipTo(clock.now() + 1_001);
      expect(await resolveHost('a.example')).toHaveLength(2);
    },
  );

  test.each(['absent.example', `${'a'.repeat(64)}.example`, 'a..b'])('throws for %s', async (host) => {
    const { resolveHost } = await resolver({});
    await expect(resolveHost(host)).rejects.toThrow(UnresolvedHost);
  });

  test('answers for one name while a hundred others are waited for without an answer', async () => {
    const hanging = Array.from({ length: 100 }, (_, index) => [`hung${index}.example`, 'silent' as const]);
    const said = { 'a.example': at('192.0.2.1'), ...Object.fromEntries(hanging) };
    const { resolveHost } = await resolver(said, IMPATIENT);
    let ended = 0;
    const hung = Array.from({ length: 100 }, async (_, index) => {
      expect(await whyNot(resolveHost, `hung${index}.example`)).toBeInstanceOf(UnresolvedHost);
      ended += 1;
    });
    expect(await resolveHost('a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
    expect(ended).toBe(0);
    await Promise.all(hung);
  });
});

describe('of several name servers', () => {
  /** Two of them, of which each says one thing of all names. */
  async function two(first: Said, second: Said) {
    const both = await Promise.all([first, second].map((said) => dnsServer((name) => (name === '' ? 'absent' : said))));
    opened.push(...both);
    const names = { hosts: new Map(), search: [], ndots: 1 };
    const servers = both.map(({ address }) => address);
    return resolverOf({ names, servers, clock: new TurnedClock(1_000_000), ...IMPATIENT });
  }

  const wrong = ['failure', 'refused', 'unable', 'unreadable', 'silent'] as const;

  test.each(wrong)('the next is asked where the first fails: %s', async (fault) => {
    const found = [{ address: '192.0.2.1', family: 4 }];
    expect(await (await two(fault, at('192.0.2.1')))('a.example')).toEqual(found);
    expect(await (await two(at('192.0.2.1'), fault))('a.example')).toEqual(found);
  });

  test('one that knows that there is no such name is believed', async () => {
    const why = await whyNot(await two('refused', 'absent'), 'a.example');
    expect(why).toMatchObject({ code: 'UNRESOLVED_HOST', cause: { code: 'ENOTFOUND' } });
  });
});

describe('where a name is not answered for', () => {
  test('it is at fault while the name servers answer for others', async () => {
    const { resolveHost } = await resolver({ 'a.example': 'failure' });
    expect(await whyNot(resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
  });

  test.each(['failure', 'refused', 'unable', 'unreadable', 'silent'] as const)(
    'none is at fault once they answer for nothing: %s',
    async (fault) => {
      const said: Record<string, Said> = { 'a.example': 'failure' };
      const { resolveHost } = await resolver(said, IMPATIENT);
      const away = await until('they are away', async () => {
        Object.assign(said, { '': 'absent', 'a.example': 'failure' });
        expect(await whyNot(resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
        // Not known, then, that they ever answered.
        const isUnknown = stoodStill();
        Object.assign(said, { '': fault, 'a.example': fault });
        const why: unknown = await resolveHost('a.example').catch((error: unknown) => error);
        return why instanceof UnresolvedHost && isUnknown ? undefined : why;
      });
      expect(away).toBeInstanceOf(NameServersAway);
    },
  );

  // They are of a closed network.
  test.each(['failure', 'refused', 'silent'] as const)(
    'it is at fault where they answer for others, though never for the root: %s; and none once they answer for nothing',
    async (fault) => {
      const said: Record<string, Said> = { '': fault, 'a.example': fault, 'b.example': at('192.0.2.1') };
      const { resolveHost } = await resolver(said, IMPATIENT);
      await resolveHost('b.example');
      expect(await whyNot(resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
      said['b.example'] = fault;
      await expect(resolveHost('a.example')).rejects.toThrow(NameServersAway);
    },
  );

  test('none is at fault where they have answered for nothing since the start', async () => {
    const { resolveHost } = await resolver({ '': 'failure', 'a.example': 'failure' });
    // c-ares gives this answer by itself, without the name servers.
    await expect(resolveHost(`${'a'.repeat(64)}.example`)).rejects.toThrow(UnresolvedHost);
    await expect(resolveHost('a.example')).rejects.toThrow(NameServersAway);
  });
});

describe('NameServers', () => {
  async function broken(areNamed: boolean) {
    const server = await dnsServer(() => 'failure');
    opened.push(server);
    const openResolvers = () => {
      const asking = new Resolver();
      asking.setServers([server.address]);
      return [asking];
    };
    const options = { areNamed: () => areNamed, openResolvers, onSilence: () => undefined, log: undefined };
    return new NameServers({ ...options, clock: new TurnedClock() });
  }

  test('that answer nothing are missed as soon as something is looked up', async () => {
    const servers = await broken(true);
    expect(await servers.ask()).toBe(false);
    expect(servers.waitingFor()).toEqual([]);
    await expect(servers.assertAnswering()).rejects.toThrow(NameServersAway);
    expect(servers.waitingFor()).toEqual([expect.stringMatching(/^name servers .* do not answer$/)]);
  });

  test('of which a machine is not told are not missed: its network has none', async () => {
    const servers = await broken(false);
    await servers.assertAnswering();
    expect(servers.waitingFor()).toEqual([]);
  });
});

/** Names by name servers that a test changes, as resolv.conf and the hosts file would. */
async function following(first: Record<string, Said>, second: Record<string, Said>) {
  const [one, other] = await Promise.all(
    [first, second].map((said) => dnsServer((name) => said[name] ?? (name === '' ? 'absent' : 'failure'))),
  );
  if (one === undefined || other === undefined) throw new Error('there are two');
  opened.push(one, other);
  const clock = new TurnedClock(1_000_000);
  const told = { hosts: new Map(), search: [], ndots: 1 };
  let now: SystemNames = { ...told, servers: [one.address] };
  const names = new Names({ readNames: () => now, clock, ...IMPATIENT });
  const change = (what: Partial<SystemNames> = {}) => (now = { ...now, servers: [other.address], ...what });
  return { names, clock, change, one, other };
}

describe('while this runs', () => {
  test('other name servers are asked as soon as it is told so, and what the first said counts no more', async () => {
    const { names, clock, change } = await following(
      { 'a.example': at('192.0.2.1') },
      { 'a.example': at('192.0.2.2'), 'b.example': at('192.0.2.3') },
    );
    expect(await names.resolveHost('a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
    change();
    clock.skipTo(clock.now() + 5_000);
    expect(await names.resolveHost('b.example')).toEqual([{ address: '192.0.2.3', family: 4 }]);
    expect(await names.resolveHost('a.example')).toEqual([{ address: '192.0.2.2', family: 4 }]);
  });

  test('the hosts file is followed', async () => {
    const { names, clock, change, one } = await following({}, {});
    change({ servers: [one.address], hosts: new Map([['a.example', [{ address: '192.0.2.7', family: 4 }]]]) });
    clock.skipTo(clock.now() + 5_000);
    expect(await names.resolveHost('a.example')).toEqual([{ address: '192.0.2.7', family: 4 }]);
  });

  test('it looks at once where nothing is answered, says who does not answer, and until when', async () => {
    const first: Record<string, Said> = {};
    const { names, change, one } = await following(first, { 'a.example': at('192.0.2.1') });
    expect(await whyNot(names.resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
    first[''] = 'failure';
    await expect(names.resolveHost('a.example')).rejects.toThrow(NameServersAway);
    expect(names.waitingFor()).toEqual([`name servers ${one.address} do not answer`]);
    change();
    await expect(names.resolveHost('a.example')).rejects.toThrow(NameServersAway);
    expect(await names.resolveHost('a.example')).toEqual([{ address: '192.0.2.1', family: 4 }]);
    await until('they are back', () => names.waitingFor().length === 0);
  });

  test('those of a closed network may take the place of others that knew the root', async () => {
    const second: Record<string, Said> = { '': 'refused', 'a.example': at('192.0.2.1') };
    const { names, clock, change } = await following({ 'a.example': at('192.0.2.1') }, second);
    expect(await whyNot(names.resolveHost, 'b.example')).toBeInstanceOf(UnresolvedHost);
    change();
    clock.skipTo(clock.now() + 5_000);
    await names.resolveHost('a.example');
    expect(await whyNot(names.resolveHost, 'b.example')).toBeInstanceOf(UnresolvedHost);
  });

  test('it asks by itself until they are back', async () => {
    const first: Record<string, Said> = {};
    const { names, clock } = await following(first, {});
    expect(await whyNot(names.resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
    first[''] = 'failure';
    await expect(names.resolveHost('a.example')).rejects.toThrow(NameServersAway);
    delete first[''];
    await until('they are back', async () => {
      await clock.runFor(1_000);
      return names.waitingFor().length === 0;
    });
  });

  test('an answer is asked for afresh where what is remembered will not do', async () => {
    const first: Record<string, Said> = { 'a.example': at('192.0.2.1') };
    const { names } = await following(first, {});
    await names.resolveHost('a.example');
    first['a.example'] = at('192.0.2.2');
    expect(await names.resolveAfresh('a.example')).toMatchObject([{ address: '192.0.2.2' }]);
    expect(await names.resolveHost('a.example')).toMatchObject([{ address: '192.0.2.1' }]);
    first['a.example'] = 'absent';
    await expect(names.resolveAfresh('a.example')).rejects.toThrow(UnresolvedHost);
    expect(await names.resolveHost('a.example')).toMatchObject([{ address: '192.0.2.1' }]);
  });
});

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
  const pathOf = (name: string) => join(folder, name);
  beforeEach(() => {
    folder = mkdtempSync(join(tmpdir(), 'waybell-names-'));
  });
  afterEach(() => rmSync(folder, { recursive: true }));

  /** Reads a hosts file and one of name servers, which are links, as many systems have them. */
  function followFiles() {
    writeFileSync(pathOf('hosts-1'), '192.0.2.1 a.example');
    writeFileSync(pathOf('resolv-1'), 'nameserver 192.0.2.53\nsearch x.example');
    symlinkSync(pathOf('hosts-1'), pathOf('hosts'));
    symlinkSync(pathOf('resolv-1'), pathOf('resolv.conf'));
    return followSystemNames({ hosts: pathOf('hosts'), resolvConf: pathOf('resolv.conf') });
  }

  test('says the same as long as the files do', () => {
    const read = followFiles();
    const names = read();
    expect(names).toMatchObject({ servers: ['192.0.2.53'], search: ['x.example'], ndots: 1 });
    writeFileSync(pathOf('resolv-1'), 'nameserver 192.0.2.53\nsearch x.example');
    expect(read()).toBe(names);
  });

  test.each<[string, () => void]>([
    ['written over', () => writeFileSync(pathOf('resolv-1'), 'nameserver 192.0.2.54')],
    [
      'put in the place of the other',
      () => {
        writeFileSync(pathOf('resolv.conf.new'), 'nameserver 192.0.2.54');
        renameSync(pathOf('resolv.conf.new'), pathOf('resolv.conf'));
      },
    ],
    [
      'linked to another',
      () => {
        writeFileSync(pathOf('resolv-2'), 'nameserver 192.0.2.54');
        rmSync(pathOf('resolv.conf'));
        symlinkSync(pathOf('resolv-2'), pathOf('resolv.conf'));
      },
    ],
  ])('follows a file that is %s', (_, change) => {
    const read = followFiles();
    read();
    change();
    expect(read()).toMatchObject({ servers: ['192.0.2.54'], search: [] });
  });

  test('follows the hosts file', () => {
    const read = followFiles();
    read();
    writeFileSync(pathOf('hosts-1'), '192.0.2.2 A.example. b.example');
    expect(Object.keys(Object.fromEntries(read().hosts))).toEqual(['a.example', 'b.example']);
    expect(read().servers).toEqual(['192.0.2.53']);
  });

  test.each<[string, () => void]>([
    ['empty', () => writeFileSync(pathOf('resolv-1'), '')],
    ['half written', () => writeFileSync(pathOf('resolv-1'), 'search y.exa')],
    ['gone', () => rmSync(pathOf('resolv-1'))],
    ['there, and that of hosts empty', () => writeFileSync(pathOf('hosts-1'), '')],
  ])('goes by what it knew while the file of name servers is %s', (_, break_) => {
    const read = followFiles();
    const before = read();
    break_();
    expect(read()).toEqual(before);
    writeFileSync(pathOf('resolv-1'), 'nameserver 192.0.2.54');
    expect(read().servers).toEqual(['192.0.2.54']);
  });

  test('says nothing where there are no files', () => {
    const read = followSystemNames({ hosts: pathOf('none'), resolvConf: pathOf('none') });
    expect(read()).toEqual({ hosts: new Map(), servers: [], search: [], ndots: 1 });
  });
});
