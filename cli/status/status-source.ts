import type { HarmfulPolicy } from '@waybell/line/broker/policies';
import { addressesIn } from '@waybell/runtime/addresses';
import { address, readEnvironment } from '@waybell/runtime/environment';
import type { ServerAddress } from '@waybell/runtime/server-address';
import { brokerOf, databaseOf } from '@waybell/stack/address-of';
import { SERVER_NAMES, SERVERS } from '@waybell/stack/choose-sources';
import { topologyOf } from '@waybell/stack/prepare';
import { stackOf, type StackFolder } from '@waybell/stack/stack-folder';
import { harmfulPoliciesAt } from '@waybell/stack/stack-policies';
import { stackAt } from '@waybell/stack/stack-record';
import { conditionOf, NotRunning, type Condition, type ProcessEntry } from '@waybell/stack/stack-state';

/** The source of a status: a stack of this machine, or the servers in the environment. */
export type StatusSource = {
  /** The folder of the stack; null where it is of none. */
  home: string | null;
  supervisor: { pid: number; state: 'starting' | 'ready' | 'stopping' | 'killed' } | null;
  processes: readonly ProcessEntry[];
  queues: string[];
  /** Throws, saying why, where none is known. */
  broker(): ServerAddress;
  /** Throws if they cannot be read; undefined if no management API is known. */
  policies(): Promise<HarmfulPolicy[] | undefined>;
  database(): ServerAddress;
  troubles: readonly string[];
};

type NamedServers = Record<'AMQP_URL' | 'DATABASE_URL' | 'REDIS_URL' | 'METRICS_URLS', string>;

const SETTINGS = {
  AMQP_URL: address('amqp', 'amqps')({ default: '' }),
  DATABASE_URL: address('postgres', 'postgresql')({ default: '' }),
  REDIS_URL: address('redis', 'rediss', 'redis+sentinel', 'rediss+sentinel')({ default: '' }),
  METRICS_URLS: address('http', 'https')({ default: '' }),
};

/** A status needs at least one of these servers. */
const NEEDED_SERVERS = ['AMQP_URL', 'DATABASE_URL'] as const;

/** Returns the servers in the environment, unless they are the stack's own; otherwise the stack. Throws NotRunning. */
export function statusSource(env: NodeJS.ProcessEnv): StatusSource {
  const named = readEnvironment(SETTINGS, env);
  const folder = stackOf(env);
  const condition = conditionOf(folder);
  const addresses = condition.kind === 'stopped' ? {} : condition.state.addresses;
  const isNamed = NEEDED_SERVERS.some((name) => {
    const url = named[name];
    return url !== '' && url !== addresses[name] && stackAt(url)?.home !== folder.home;
  });
  if (isNamed) return ofEnvironment(named, env);
  if (condition.kind === 'stopped') throw new NotRunning(folder, condition);
  return ofStack(folder, condition, env);
}

function ofEnvironment(named: NamedServers, env: NodeJS.ProcessEnv): StatusSource {
  const required = (name: (typeof NEEDED_SERVERS)[number], read: typeof brokerOf) => () => {
    if (named[name] === '') throw new Error(`${name} is not set`);
    return read(env);
  };
  return {
    home: null,
    supervisor: null,
    processes: [...serversIn(named), ...servicesIn(named.METRICS_URLS)],
    queues: topologyOf(env).queues.map(({ name }) => name),
    broker: required('AMQP_URL', brokerOf),
    policies: async () => harmfulPoliciesAt(required('AMQP_URL', brokerOf)(), env),
    database: required('DATABASE_URL', databaseOf),
    troubles: [],
  };
}

function serversIn(named: NamedServers): ProcessEntry[] {
  return SERVER_NAMES.map((name) => ({ name, address: named[SERVERS[name]] }))
    .filter((server) => server.address !== '')
    .map((server) => ({ ...server, role: 'server', state: 'external' }));
}

/** Each as `./waybell env` prints it: http://…/metrics#deliverer. */
function servicesIn(urls: string): ProcessEntry[] {
  if (urls === '') return [];
  return addressesIn(urls).map((each) => {
    const { origin, pathname, hash, host } = new URL(each);
    const health = `${origin}${pathname.replace(/\/(metrics)?$/, '')}`;
    return { name: hash.slice(1) || host, role: 'service', state: 'external', address: health, health };
  });
}

type BegunCondition = Exclude<Condition, { kind: 'stopped' }>;

function ofStack(folder: StackFolder, condition: BegunCondition, env: NodeJS.ProcessEnv): StatusSource {
  const { supervisor, phase, processes, queues, addresses } = condition.state;
  const isRunning = condition.kind === 'running';
  const own = (name: (typeof NEEDED_SERVERS)[number], read: typeof brokerOf) => () => {
    const url = addresses[name];
    if (url === undefined) throw new Error(`the stack is still starting and has no ${name} yet`);
    return { ...read({ ...env, [name]: url, [`${name}_FILE`]: '' }), isOfStack: true };
  };
  return {
    home: folder.home,
    supervisor: { pid: supervisor.pid, state: isRunning ? phase : 'killed' },
    processes,
    queues,
    broker: own('AMQP_URL', brokerOf),
    policies: async () => harmfulPoliciesAt(own('AMQP_URL', brokerOf)(), env),
    database: own('DATABASE_URL', databaseOf),
    troubles: isRunning ? [] : [new NotRunning(folder, condition).message],
  };
}
