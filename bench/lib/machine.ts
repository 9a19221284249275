import { execFileSync } from 'node:child_process';
import { mkdtemp, rm } from 'node:fs/promises';
import { cpus, release, tmpdir, totalmem, type } from 'node:os';
import { join } from 'node:path';
import { connect } from 'amqplib';
import { Redis } from 'ioredis';
import pg from 'pg';
import { startServers } from '@waybell/stack/servers';
import { repository } from '@waybell/stack/stack-folder';

export type MachineFacts = { cpu: string; cores: number; memoryGib: number; kernel: string };
export type Versions = Record<'node' | 'rabbitmq' | 'postgres' | 'redis' | 'waybell', string>;

export function thisMachine(): MachineFacts {
  return {
    cpu: cpus()[0]?.model.trim() ?? 'unknown',
    cores: cpus().length,
    memoryGib: Math.round(totalmem() / 2 ** 30),
    kernel: `${type()} ${release()}`,
  };
}

/** Starts servers as a stack would, only to read their versions. */
export async function versionsHere(): Promise<Versions> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-bench-'));
  const { PATH = '', HOME = '' } = process.env;
  try {
    await using servers = await startServers({ home, env: { PATH, HOME } });
    const [rabbitmq, postgres, redis] = await Promise.all([
      rabbitmqVersion(servers.url('rabbitmq')),
      postgresVersion(servers.url('postgres')),
      redisVersion(servers.url('redis')),
    ]);
    return { node: process.versions.node, rabbitmq, postgres, redis, waybell: commit() };
  } finally {
    await rm(home, { recursive: true, force: true });
  }
}

async function rabbitmqVersion(url: string): Promise<string> {
  const connection = await connect(url);
  const { version } = connection.connection.serverProperties;
  await connection.close();
  return version;
}

async function postgresVersion(url: string): Promise<string> {
  const client = new pg.Client({ connectionString: url });
  await client.connect();
  const { rows } = await client.query<{ server_version: string }>('show server_version');
  await client.end();
  return rows[0]?.server_version ?? 'unknown';
}

async function redisVersion(url: string): Promise<string> {
  const redis = new Redis(url);
  const [, version = 'unknown'] = /redis_version:(\S+)/.exec(await redis.info('server')) ?? [];
  redis.disconnect();
  return version;
}

/** The commit, marked where files differ from it; unknown where there is no repository. */
function commit(): string {
  try {
    const git = (...args: string[]) =>
      execFileSync('git', args, { cwd: repository, stdio: ['ignore', 'pipe', 'ignore'] })
        .toString()
        .trim();
    return git('rev-parse', '--short', 'HEAD') + (git('status', '--porcelain') === '' ? '' : ' and changes');
  } catch {
    return 'unknown';
  }
}
