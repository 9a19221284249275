/**
 * A service of a stack as a process: its environment and addresses, whether it is ready, its metrics, and the check of all
 * settings before anything runs.
 */

import { join } from 'node:path';
import { InvalidEnvironment } from '@waybell/runtime/environment';
import { topologyOf } from './prepare.ts';
import { NEEDS, type StackService } from './services.ts';
import { logFileOf, repository, type StackFolder } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { STARTING_LIMIT_MS, type ProcessSpec } from './supervised-process.ts';

type ServiceSetup = {
  folder: StackFolder;
  record: StackRecord;
  /** The caller's environment: every setting in it reaches the service. */
  env: NodeJS.ProcessEnv;
  /** AMQP_URL, ADMIN_AMQP_URL, DATABASE_URL, REDIS_URL, as this service logs in; DATABASE_ROLE. */
  addresses: Record<string, string>;
  /** The management API of the stack's RabbitMQ, where it has one. */
  managementUrl?: string | undefined;
  /** Limit for the service to finish its work when it is stopped. */
  shutdownGraceMs: number;
};

/**
 * Deliveries outlive the young generation and die in the old one, which V8 lets grow to a multiple of its live objects before it
 * collects, more with a larger limit. Observations and cost: docs/operating/sizing.md.
 */
export const MEMORY = ['--max-old-space-size=512'];

/**
 * glibc keeps freed memory in an arena for each thread, and after the first large freed block also blocks of that size: large
 * bodies would stay resident. With these settings they are given back at once.
 */
export const MALLOC = { MALLOC_ARENA_MAX: '2', MALLOC_MMAP_THRESHOLD_: '131072' };

/** The moment that a service needs to end, after its grace time. */
const ENDING_MS = 5_000;

/** A receiver on this machine is what one tries first; the caller may forbid it again. */
const RECEIVERS_HERE = { CALLBACK_ALLOW_NETWORKS: '127.0.0.0/8,::1/128', CALLBACK_ALLOW_HTTP: 'true' };

export function serviceProcess(service: StackService, setup: ServiceSetup): ProcessSpec {
  const { folder, record } = setup;
  const env = serviceEnvironment(service, setup);
  const health = `http://${reachedAt(env['HOST'])}:${env['HEALTH_PORT']}`;
  return {
    name: service.name,
    role: 'service',
    command: process.execPath,
    args: [...MEMORY, entryPoint(service)],
    env,
    cwd: repository,
    logFile: logFileOf(folder, service.name),
    address: service.isApi ? apiAddress(record, env) : health,
    health,
    waitsFor: () => waitsFor(health),
    readyMs: STARTING_LIMIT_MS,
    graceMs: setup.shutdownGraceMs + ENDING_MS,
  };
}

function serviceEnvironment(service: StackService, setup: ServiceSetup): NodeJS.ProcessEnv {
  const { env, addresses, record, managementUrl } = setup;
  const offered: Record<string, string | undefined> = { ...addresses, SECRET_KEYS: record.secretKeys };
  return {
    // Set by ./waybell: the caller's settings may belong to another stack.
    NODE_COMPILE_CACHE: process.env['NODE_COMPILE_CACHE'],
    ...RECEIVERS_HERE,
    ...MALLOC,
    ...(service.needs.includes('AMQP_URL') && { AMQP_MANAGEMENT_URL: managementUrl }),
    ...env,
    // Nor what another service needs, which the caller may have set.
    ...Object.fromEntries(NEEDS.map((need) => [need, service.needs.includes(need) ? offered[need] : undefined])),
    DATABASE_ROLE: addresses['DATABASE_ROLE'] ?? '',
    HOST: (service.isApi && env['HOST']) || '127.0.0.1',
    HEALTH_PORT: String(portOf(record, service.name)),
    ...(service.isApi && {
      PORT: env['PORT'] || String(portOf(record, 'api')),
      ADMIN_PORT: adminPort(record, env),
    }),
  };
}

function entryPoint(service: StackService): string {
  return join(repository, 'services', service.name, 'main.ts');
}

/** The host of an address that leads to what listens there. */
export function reachedAt(host: string | undefined): string {
  if (!host || host === '0.0.0.0') return '127.0.0.1';
  if (host === '::') return '[::1]';
  return host.includes(':') ? `[${host}]` : host;
}

/** The address of the API of the stack. */
export function apiAddress(record: StackRecord, env: NodeJS.ProcessEnv): string {
  return `http://${reachedAt(env['HOST'])}:${env['PORT'] || portOf(record, 'api')}`;
}

/** The address of its interface for operators. */
export function adminAddress(record: StackRecord, env: NodeJS.ProcessEnv): string {
  return `http://${reachedAt(env['ADMIN_HOST'])}:${adminPort(record, env)}`;
}

const adminPort = (record: StackRecord, env: NodeJS.ProcessEnv): string =>
  env['ADMIN_PORT'] || String(portOf(record, 'admin'));

/** Returns undefined when the process at `health` is ready, otherwise what it waits for. */
export async function waitsFor(health: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${health}/readyz`, { signal: AbortSignal.timeout(2_000) });
    if (answer.ok) return undefined;
    const { waitingFor } = (await answer.json()) as { waitingFor?: string[] };
    return waitingFor?.join(', ') ?? `a better answer than ${answer.status}`;
  } catch {
    return 'an answer on /readyz';
  }
}

const LIMIT_MS = 2_000;

/** Metrics of processes. */
type Figures = {
  /** The sum of all that a metric counts; undefined where it is not there. */
  sumOf(metric: string): number | undefined;
  largestOf(metric: string): number | undefined;
};

/** Reads the metrics of the processes at these addresses, as those of one; undefined where none answers. */
export async function readFigures(...healths: string[]): Promise<Figures | undefined> {
  const answers = await Promise.all(healths.map(metricsAt));
  const text = answers.filter((answer) => answer !== undefined).join('\n');
  if (text === '') return undefined;
  const valuesOf = (metric: string): number[] =>
    Array.from(text.matchAll(new RegExp(String.raw`^${metric}(?:\{.*\})? (\S+)$`, 'gm')), ([, value]) => Number(value));
  return {
    sumOf: (metric) => unlessEmpty(valuesOf(metric))?.reduce((sum, value) => sum + value, 0),
    largestOf: (metric) => unlessEmpty(valuesOf(metric))?.reduce((one, other) => Math.max(one, other)),
  };
}

async function metricsAt(health: string): Promise<string | undefined> {
  try {
    const answer = await fetch(`${health}/metrics`, { signal: AbortSignal.timeout(LIMIT_MS) });
    return await answer.text();
  } catch {
    return undefined;
  }
}

function unlessEmpty(values: number[]): number[] | undefined {
  return values.length === 0 ? undefined : values;
}

/** Deliveries in one message of a delivery queue, on the mean since the router began; undefined before the first. */
export function deliveriesPerMessage(router: Figures | undefined): number | undefined {
  const [deliveries, messages] = [
    router?.sumOf('waybell_delivery_batch_members_total'),
    router?.sumOf('waybell_delivery_batches_total'),
  ];
  return deliveries === undefined || messages === undefined || messages === 0 ? undefined : deliveries / messages;
}

/** In the place of what the stack chooses only once it runs. */
const PLACEHOLDERS = {
  AMQP_URL: 'amqp://localhost',
  DATABASE_URL: 'postgres://localhost',
  REDIS_URL: 'redis://localhost',
  SECRET_KEYS: `any:${Buffer.alloc(32).toString('base64')}`,
};

/**
 * Reads every setting as the services will. Throws InvalidEnvironment, with all that is wrong, before anything runs: a
 * service would say so only once the servers are up, and each for itself.
 */
export async function checkSettings(services: readonly StackService[], env: NodeJS.ProcessEnv): Promise<void> {
  const given = Object.fromEntries(Object.entries(env).filter(([, value]) => value !== ''));
  // The stack gives each service a port of its own for health.
  const settings = { ...PLACEHOLDERS, ...RECEIVERS_HERE, ...given, HEALTH_PORT: undefined };
  const configs = await Promise.all(services.map(({ config }) => config()));
  const problems = [...configs.map(({ readConfig }) => readConfig), topologyOf].flatMap((read) =>
    problemsOf(() => read(settings)),
  );
  if (problems.length > 0) throw new InvalidEnvironment([...new Set(problems)]);
}

function problemsOf(read: () => unknown): string[] {
  try {
    read();
    return [];
  } catch (error) {
    if (error instanceof InvalidEnvironment) return error.problems;
    throw error;
  }
}
