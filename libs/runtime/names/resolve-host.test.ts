import { monitorEventLoopDelay } from 'node:perf_hooks';
import { afterAll, afterEach, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '../testing/until.ts';
import { TurnedClock } from '../turned-clock.ts';
import { Unavailable } from '../unavailable.ts';
import { resolverOf, UnresolvedHost, type ResolveHost } from './resolve-host.ts';
import type { SystemNames } from './system-names.ts';
import { dnsServer, type Said } from '../testing/dns-server.ts';

const opened: AsyncDisposable[] = [];
afterEach(async () => {
  for (const each of opened.splice(0)) await each[Symbol.asyncDispose]();
});

type Given = Partial<SystemNames> & { tryMs?: number };

/** A resolver whose only name server says these things (of the root: ''), on a machine without search list and hosts. */
async function resolver(said: Record<string, Said>, { tryMs, ...names }: Given = {}) {
  const server = await dnsServer((name) => said[name] ?? 'absent');
  opened.push(server);
  const clock = new TurnedClock(1_000_000);
  const resolveHost = resolverOf({
    names: { hosts: new Map(), search: [], ndots: 1, ...names },
    servers: [server.address],
    clock,
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
    return why instanceof Unavailable && stoodStill() ? undefined : why;
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

  test('goes through the search list where it has an answer', async () => {
    const { resolveHost, asked } = await resolver(
      { 'hooks.web.svc.cluster.local': at('192.0.2.1') },
      { search: ['web.svc.cluster.local', 'svc.cluster.local'], ndots: 5 },
    );
    expect(await resolveHost('hooks')).toEqual([{ address: '192.0.2.1', family: 4 }]);
    expect(new Set(asked)).toEqual(new Set(['hooks.web.svc.cluster.local']));
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

  test.each(['absent.example', `${'a'.repeat(64)}.example`, 'a..b'])('throws for %s', async (host) => {
    const { resolveHost } = await resolver({});
    await expect(resolveHost(host)).rejects.toThrow(UnresolvedHost);
  });

  test('answers for one name while a hundred others are waited for in vain', async () => {
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

describe('where a name is not answered for', () => {
  test('it is to blame while the name servers answer for others', async () => {
    const { resolveHost } = await resolver({ 'a.example': 'failure' });
    expect(await whyNot(resolveHost, 'a.example')).toBeInstanceOf(UnresolvedHost);
  });

  test.each(['failure', 'silent'] as const)('none is to blame once they answer for nothing: %s', async (fault) => {
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
    expect(away).toBeInstanceOf(Unavailable);
    const { dependency, probe } = away as Unavailable;
    expect(dependency).toBe('name servers');
    await expect(probe()).rejects.toThrow(Unavailable);
    delete said[''];
    await until('they answer', () =>
      probe().then(
        () => true,
        () => false,
      ),
    );
  });

  test('it is to blame where they have never known the root: the network is closed, or has none', async () => {
    const { resolveHost } = await resolver({ '': 'failure', 'a.example': 'failure' });
    await expect(resolveHost('a.example')).rejects.toThrow(UnresolvedHost);
  });
});
