import { mkdirSync, readFileSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { Redis } from 'ioredis';
import { until } from '@waybell/runtime/testing/until';
import { freePort, hostAndPort, reaches } from '@waybell/stack/ports';
import { startServers } from '@waybell/stack/servers';
import { writePrivately } from '@waybell/stack/stack-folder';
import { requireProgram, SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';
import { stopAll } from './left-behind.ts';

const SENTINELS = 3;
const MASTER = 'main';
const SENTINEL_PASSWORD = 'of-sentinels';

/** Two Redis, of which one is the other's replica, and three sentinels, of which two decide which one is the master. */
export class RedisPair implements AsyncDisposable {
  /** The address for services. */
  readonly url: string;
  readonly servers: readonly SupervisedProcess[];
  readonly #sentinels: readonly SupervisedProcess[];
  readonly #home: string;

  private constructor({
    home,
    servers,
    sentinels,
  }: Record<'servers' | 'sentinels', SupervisedProcess[]> & { home: string }) {
    this.#home = home;
    this.servers = servers;
    this.#sentinels = sentinels;
    const { password } = new URL(servers[0]?.spec.address ?? '');
    const hosts = sentinels.map(({ spec }) => new URL(spec.address).host);
    this.url = `redis+sentinel://:${password}@${hosts.join(',')}/${MASTER}?sentinel_password=${SENTINEL_PASSWORD}`;
  }

  /** Resolves when the replica follows and the sentinels know of it, and of each other. */
  static async start(): Promise<RedisPair> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-redis-pair-'));
    const master = (await startServers({ home, only: ['redis'], isThrowaway: true })).process('redis');
    requireProgram(master.spec);
    const taken = new Set<number>();
    const besides = async (name: string, lines: (port: number) => string[], args: string[] = []) => {
      const port = await freePort({ taken });
      return new SupervisedProcess(beside(master.spec, { name, port, lines: lines(port), args }), {
        restart: 'never',
        onEvent: () => undefined,
      });
    };
    const { port, password } = new URL(master.spec.address);
    const replica = await besides('redis-2', () => [`replicaof 127.0.0.1 ${port}`, `masterauth ${password}`]);
    const sentinels = [];
    for (let count = 1; count <= SENTINELS; count += 1)
      sentinels.push(await besides(`sentinel-${count}`, () => sentinelLines({ port, password }), ['--sentinel']));
    const pair = new RedisPair({ home, servers: [master, replica], sentinels });
    try {
      await pair.#join(password);
      return pair;
    } catch (error) {
      await pair[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The one that the sentinels say is the master. */
  async master(): Promise<SupervisedProcess> {
    const [, port] = (await this.askSentinel('GET-MASTER-ADDR-BY-NAME', MASTER)) as [string, string];
    const found = this.servers.find(({ spec }) => new URL(spec.address).port === port);
    if (found === undefined) throw new Error(`the sentinels name a master on port ${port}, which is none of these`);
    return found;
  }

  async askSentinel(...args: string[]): Promise<unknown> {
    return this.ask(this.#sentinels[0], (redis) => redis.call('SENTINEL', ...args));
  }

  async ask<T>(server: SupervisedProcess | undefined, work: (redis: Redis) => Promise<T>): Promise<T> {
    const redis = new Redis(server?.spec.address ?? '', { retryStrategy: () => null });
    redis.on('error', () => undefined);
    try {
      return await work(redis);
    } finally {
      redis.disconnect();
    }
  }

  /** Makes both take part again, whatever happened to the former master. */
  async untilWhole(): Promise<void> {
    await until('the replica follows', async () => {
      const said = await this.ask(await this.master(), (redis) => redis.info('replication'));
      return /role:master[^]*state=online/.test(said);
    });
    await until('the sentinels know all', async () => {
      const said = (await this.askSentinel('CKQUORUM', MASTER).catch(String)) as string;
      const replicas = (await this.askSentinel('REPLICAS', MASTER)) as string[][];
      return said.startsWith(`OK ${SENTINELS} usable`) && replicas.length === 1 && !replicas.flat().includes('s_down');
    });
  }

  [Symbol.asyncDispose](): Promise<void> {
    return stopAll([...this.#sentinels, ...this.servers], this.#home);
  }

  async #join(password: string): Promise<void> {
    const [master, replica] = this.servers;
    // Once it is the replica it logs in to the other, also after it was started again.
    await this.ask(master, (redis) => redis.config('SET', 'masterauth', decodeURIComponent(password)));
    await this.ask(master, (redis) => redis.config('REWRITE'));
    await replica?.start();
    await Promise.all(this.#sentinels.map((each) => each.start()));
    await this.untilWhole();
  }
}

const sentinelLines = ({ port, password }: { port: string; password: string }): string[] => [
  `requirepass ${SENTINEL_PASSWORD}`,
  `sentinel sentinel-pass ${SENTINEL_PASSWORD}`,
  `sentinel monitor ${MASTER} 127.0.0.1 ${port} 2`,
  `sentinel auth-pass ${MASTER} ${password}`,
  `sentinel down-after-milliseconds ${MASTER} 2000`,
  `sentinel failover-timeout ${MASTER} 10000`,
];

type Beside = { name: string; port: number; lines: string[]; args: string[] };

/** The same program with a home and settings of its own. */
function beside(spec: ProcessSpec, { name, port, lines, args }: Beside): ProcessSpec {
  const isSentinel = args.length > 0;
  const home = join(dirname(spec.cwd), name);
  const file = join(home, 'redis.conf');
  const address = Object.assign(new URL(spec.address), {
    port: String(port),
    ...(isSentinel && { password: SENTINEL_PASSWORD, pathname: '' }),
  }).href;
  const common = isSentinel
    ? ['bind 127.0.0.1']
    : readFileSync(join(spec.cwd, 'redis.conf'), 'utf8')
        .split('\n')
        .filter((line) => !line.startsWith('port '));
  mkdirSync(home, { mode: 0o700 });
  writePrivately(file, [...common, `port ${port}`, `dir ${home}`, ...lines, ''].join('\n'));
  return {
    ...spec,
    name,
    args: [file, ...args],
    cwd: home,
    address,
    logFile: `${spec.logFile}-${name}`,
    waitsFor: async () => ((await reaches(hostAndPort(address))) ? undefined : 'its port'),
  };
}
