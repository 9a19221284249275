import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { Redis } from 'ioredis';
import { isAlive } from './process-identity.ts';
import { startServers, type ServersOptions } from './servers.ts';
import type { ProcessEvent } from './supervised-process.ts';

const startRedis = async (options: Partial<ServersOptions> = {}) => {
  const home = mkdtempSync(join(tmpdir(), 'waybell-servers-'));
  const servers = await startServers({ home, only: ['redis'], ...options });
  return {
    servers,
    redis: servers.process('redis'),
    [Symbol.asyncDispose]: async () => {
      await servers.stop();
      rmSync(home, { recursive: true, force: true });
    },
  };
};

const ping = async (url: string) => {
  const client = new Redis(url);
  try {
    return await client.ping();
  } finally {
    client.disconnect();
  }
};

describe('startServers', () => {
  test('a private server answers at its address, and is gone when it was stopped', async () => {
    await using started = await startRedis();
    expect(await ping(started.servers.url('redis'))).toBe('PONG');
    const { identity } = started.redis;
    await started.servers.stop();
    expect(isAlive(identity)).toBe(false);
  });

  test('a killed server comes back at the same address where it is kept alive', async () => {
    const events: ProcessEvent['kind'][] = [];
    let cameBack: () => void = () => undefined;
    const back = new Promise<void>((resolve) => {
      cameBack = resolve;
    });
    await using started = await startRedis({
      restart: 'backed off',
      onEvent: ({ kind, process }) => {
        events.push(kind);
        if (kind === 'ready' && process.restarts === 1) cameBack();
      },
    });
    await started.redis.kill();
    await back;
    expect(await ping(started.servers.url('redis'))).toBe('PONG');
    expect(events).toEqual(['spawned', 'ready', 'exited', 'spawned', 'ready']);
  });

  test('a killed server stays away otherwise, until it is started', async () => {
    await using started = await startRedis();
    await started.redis.kill();
    expect(started.redis.state).toBe('stopped');
    await started.redis.start();
    expect(await ping(started.servers.url('redis'))).toBe('PONG');
  });

  test('two stacks have different addresses', async () => {
    await using first = await startRedis();
    await using second = await startRedis();
    expect(first.servers.url('redis')).not.toBe(second.servers.url('redis'));
  });
});
