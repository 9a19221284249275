import type { LookupAddress } from 'node:dns';
import { Socket } from 'node:net';
import { describe, expect, test } from '@jest/globals';
import { settled, TurnedClock } from '@waybell/runtime/turned-clock';
import { Unavailable } from '@waybell/runtime/unavailable';
import { connectingToAny, BlockedAddress } from './connect.ts';
import type { Connection, Connector } from './connection.ts';
import { reaching } from './call-endpoint.ts';

type Opening = { address: string; isLetGo: () => boolean; opens: () => Socket; fails: (error: Error) => void };

/** Connects to a host with these addresses: a test says which opens. */
function aHost(...addresses: string[]) {
  const clock = new TurnedClock();
  const tried: Opening[] = [];
  const open = ({ address }: LookupAddress, _port: number, signal: AbortSignal) => {
    const { promise, resolve, reject } = Promise.withResolvers<Socket>();
    const opens = () => {
      const socket = new Socket();
      resolve(socket);
      return socket;
    };
    tried.push({ address, isLetGo: () => signal.aborted, opens, fails: reject });
    return promise;
  };
  const find = async () => addresses.map((address) => ({ address, family: 4 }));
  const connect = connectingToAny({ find, open, connectTimeoutMs: 10_000, clock });
  return {
    clock,
    tried,
    names: () => tried.map(({ address }) => address),
    async begin() {
      tried.length = 0;
      const connection: Connection = { clock, begunAt: clock.now() };
      const ended: { error?: Error | null; socket?: Socket | null } = {};
      const to = { protocol: 'http:', hostname: 'hooks.example', port: '80', connection };
      connect(to, (...made) => void ([ended.error, ended.socket] = made));
      await settled();
      return { connection, ended };
    },
  };
}

const refused = () => Object.assign(new Error('refused'), { code: 'ECONNREFUSED' });

describe('a host with several addresses', () => {
  test('has the next begun after a moment, and the first that answers is taken', async () => {
    const { clock, tried, names, begin } = aHost('dead', 'alive', 'third');
    const { connection, ended } = await begin();
    expect(names()).toEqual(['dead']);
    await clock.runFor(299);
    expect(names()).toEqual(['dead']);
    await clock.runFor(1);
    expect(names()).toEqual(['dead', 'alive']);
    const socket = tried[1]?.opens();
    await settled();
    expect(ended).toEqual({ error: null, socket });
    expect(connection).toMatchObject({ ip: 'alive', connectedAt: 300 });
    expect(tried.map(({ isLetGo }) => isLetGo())).toEqual([true, false]);
    await clock.runFor(10_000);
    expect(names()).toEqual(['dead', 'alive']);
  });

  test('is not given up at a slow first one: it is taken after others were begun', async () => {
    const { clock, tried, begin } = aHost('slow', 'dead');
    const { connection, ended } = await begin();
    await clock.runFor(2_000);
    const socket = tried[0]?.opens();
    await settled();
    expect([ended.socket, connection.ip]).toEqual([socket, 'slow']);
  });

  test('has one that hung go last, for a minute', async () => {
    const { clock, tried, names, begin } = aHost('dead', 'alive');
    await begin();
    await clock.runFor(300);
    tried[1]?.opens();
    await settled();
    await begin();
    expect(names()).toEqual(['alive']);
    await clock.runFor(60_001);
    await begin();
    expect(names()).toEqual(['dead']);
  });

  test('has one go last where a request failed', async () => {
    const { tried, names, begin } = aHost('first', 'second');
    const { connection } = await begin();
    tried[0]?.opens();
    await settled();
    connection.avoid?.();
    await begin();
    expect(names()).toEqual(['second']);
  });

  test('is tried at the next at once where one refuses, and fails as the first did where all do', async () => {
    const { tried, names, begin } = aHost('one', 'two');
    const { ended } = await begin();
    tried[0]?.fails(refused());
    await settled();
    expect(names()).toEqual(['one', 'two']);
    tried[1]?.fails(new Error('other'));
    await settled();
    expect(ended.error).toBeInstanceOf(AggregateError);
    expect(ended.error).toMatchObject({ code: 'ECONNREFUSED' });
  });

  test('has all of ten begun within a second or so', async () => {
    const { clock, names, begin } = aHost(...Array.from({ length: 10 }, (_, place) => `at ${place}`));
    await begin();
    await clock.runFor(1_080);
    expect(names()).toHaveLength(10);
  });

  test('fails at the limit where none answers', async () => {
    const { clock, tried, begin } = aHost('one', 'two');
    const { ended } = await begin();
    await clock.runFor(10_000);
    expect(ended.error).toMatchObject({ code: 'UND_ERR_CONNECT_TIMEOUT' });
    expect(tried.map(({ isLetGo }) => isLetGo())).toEqual([true, true]);
    const late = tried[0]?.opens();
    await settled();
    expect(late?.destroyed).toBe(true);
  });

  test('is given up at once where there is no way out', async () => {
    const { tried, names, begin } = aHost('one', 'two');
    const { ended } = await begin();
    const away = new Unavailable('the proxy', async () => undefined);
    tried[0]?.fails(away);
    await settled();
    expect([ended.error, names()]).toEqual([away, ['one']]);
  });
});

test('a host with one address has no other to prefer', async () => {
  const { tried, begin } = aHost('one');
  const { connection, ended } = await begin();
  expect(connection).not.toHaveProperty('avoid');
  const error = refused();
  tried[0]?.fails(error);
  await settled();
  expect(ended.error).toBe(error);
});

test('where callbacks never go is no place that a receiver is at', async () => {
  const connect: Connector = ({ connection, hostname }, done) => {
    connection.ip = '0.0.0.0';
    done(new BlockedAddress(hostname, '0.0.0.0'), null);
  };
  const reach = reaching({ connect, limitMs: 1, clock: new TurnedClock() });
  expect(await reach('https://receiver.test')).toEqual({ isReached: false });
});

test.each(['https://', 'https:///', 'nonsense', ''])('what leads nowhere is not reached: "%s"', async (origin) => {
  const connect = () => {
    throw new Error('it is not to be connected to');
  };
  expect(await reaching({ connect, limitMs: 1, clock: new TurnedClock() })(origin)).toEqual({ isReached: false });
});
