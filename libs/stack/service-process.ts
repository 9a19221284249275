import { join } from 'node:path';
import { NEEDS, type StackService } from './services.ts';
import { logFileOf, repository, type StackFolder } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { STARTING_LIMIT_MS, type ProcessSpec } from './supervised-process.ts';

export type ServiceSetup = {
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

// Beyond its own grace time a service needs a moment to end.
const ENDING_MS = 5_000;

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

function entryPoint(service: StackService): string {
  return join(repository, 'services', service.name, 'main.ts');
}

/** A receiver on this machine is what one tries first; the caller may forbid it again. */
export const RECEIVERS_HERE = { CALLBACK_ALLOW_NETWORKS: '127.0.0.0/8,::1/128', CALLBACK_ALLOW_HTTP: 'true' };

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
