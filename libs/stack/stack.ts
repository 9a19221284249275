import { createServer } from 'node:http';
import { readEnvironment } from '@waybell/runtime/environment';
import { closeServer, listen } from '@waybell/runtime/health';
import { processSettings } from '@waybell/runtime/settings';
import { brokerOf, databaseOf } from './address-of.ts';
import { isExternal } from './choose-sources.ts';
import { prepareBroker, prepareDatabase } from './prepare.ts';
import { managementOf } from './rabbitmq.ts';
import { beginServers, type Servers, type ServersOptions } from './servers.ts';
import { allowLogins, loginsOf } from './service-logins.ts';
import { checkSettings, adminAddress, apiAddress, serviceProcess } from './service-process.ts';
import { services as allServices, type StackService } from './services.ts';
import { rotateLog, stackFolder, type StackFolder } from './stack-folder.ts';
import { claimPorts, readRecord, writeRecord, type StackRecord } from './stack-record.ts';
import { SupervisedProcess, type RestartPolicy, type ProcessEvent } from './supervised-process.ts';

export type StackOptions = Pick<ServersOptions, 'lent' | 'isThrowaway'> & {
  /** Folder for data, logs and secrets. */
  home: string;
  /** Settings of the services, and addresses of servers that run already. */
  env: NodeJS.ProcessEnv;
  /** The services to start; all by default. */
  services?: readonly StackService[];
  /** Whether what ends by itself is started again; not by default. */
  restart?: RestartPolicy;
  onEvent?: (event: ProcessEvent) => void;
  report?: (line: string) => void;
  /** Aborting it while the stack starts stops the started parts; `startStack` then throws. */
  signal?: AbortSignal;
};

/** A running system: its servers and its services. Closing it stops the services, then the servers. */
export class Stack implements AsyncDisposable {
  readonly servers: Servers;
  readonly services: SupervisedProcess[];
  /** API_URL, ADMIN_URL, AMQP_URL, DATABASE_URL, REDIS_URL; METRICS_URLS, separated by commas, each with its service as fragment. */
  readonly addresses: Record<string, string>;
  /** Names of the queues that were declared. */
  queues: string[] = [];

  constructor(servers: Servers, services: SupervisedProcess[], addresses: Record<string, string>) {
    this.servers = servers;
    this.services = services;
    this.addresses = addresses;
  }

  /** The process of that service, to stop, kill or restart it. */
  service(name: string): SupervisedProcess {
    const process = this.services.find(({ spec }) => spec.name === name);
    if (process === undefined) throw new Error(`${name} is not part of this stack`);
    return process;
  }

  async stop(): Promise<void> {
    await Promise.all(this.services.map((service) => service.stop()));
    await this.servers.stop();
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }
}

/**
 * Starts servers, migrates, declares, and starts every service; resolves when all are ready. Throws StartFailed or NoServer,
 * after stopping the started parts, or InvalidEnvironment before it starts anything.
 */
export async function startStack(options: StackOptions): Promise<Stack> {
  const { signal, report = () => undefined } = options;
  signal?.throwIfAborted();
  const stack = await layOut(options);
  const { servers } = stack;
  const halt = () => void stack.stop();
  signal?.addEventListener('abort', halt);
  try {
    // Tables need no broker, and Postgres is there long before RabbitMQ.
    await Promise.all([migrateIn(stack, options.env, report), declareIn(stack, options.env), servers.ready('redis')]);
    signal?.throwIfAborted();
    await Promise.all(stack.services.map((service) => service.start()));
    return stack;
  } catch (error) {
    await stack.stop();
    throw error;
  } finally {
    signal?.removeEventListener('abort', halt);
  }
}

async function migrateIn({ servers }: Stack, env: NodeJS.ProcessEnv, report: (line: string) => void): Promise<void> {
  // Its lender has migrated it and lets the services log in; to find that out, much is loaded.
  if (servers.sources.postgres?.from === 'lent') return;
  await servers.ready('postgres');
  const applied = await prepareDatabase(databaseOf({ ...env, DATABASE_URL: servers.url('postgres') }));
  await allowLogins(servers);
  if (applied.length > 0) report(`migrated the tables: ${applied.join(', ')}`);
}

async function declareIn(stack: Stack, env: NodeJS.ProcessEnv): Promise<void> {
  await stack.servers.ready('rabbitmq');
  stack.queues = await prepareBroker(brokerOf({ ...env, AMQP_URL: stack.servers.url('rabbitmq') }), env);
}

async function layOut(options: StackOptions): Promise<Stack> {
  const { env, services = allServices, restart = 'never', onEvent = () => undefined } = options;
  await checkSettings(services, env);
  await checkPorts(env);
  const folder = stackFolder(options.home);
  const { SHUTDOWN_GRACE } = readEnvironment({ SHUTDOWN_GRACE: processSettings.SHUTDOWN_GRACE }, env);
  const servers = await beginServers(options);
  const record = await recordFor(folder, env, services);
  const setup = { folder, record, env, shutdownGraceMs: SHUTDOWN_GRACE };
  const isManaged = !isExternal(servers.sources.rabbitmq) && options.isThrowaway !== true;
  const managementUrl = isManaged ? managementOf(record) : undefined;
  const processes = services.map((service) => {
    const spec = serviceProcess(service, { ...setup, managementUrl, addresses: loginsOf(service, servers) });
    rotateLog(spec.logFile);
    return new SupervisedProcess(spec, { restart, onEvent });
  });
  return new Stack(servers, processes, {
    API_URL: apiAddress(record, env),
    ADMIN_URL: adminAddress(record, env),
    ...servers.environment,
    METRICS_URLS: processes.map(({ spec }) => `${spec.health}/metrics#${spec.name}`).join(','),
  });
}

/** Ports of the API that the caller chose: what the stack chooses itself is free. Throws CannotListen. */
async function checkPorts(env: NodeJS.ProcessEnv): Promise<void> {
  for (const prefix of ['', 'ADMIN_']) {
    const port = Number(env[`${prefix}PORT`] || 0);
    if (port === 0) continue;
    const server = createServer();
    await listen(server, { host: env[`${prefix}HOST`] || '127.0.0.1', port }).catch((error: Error) => {
      throw new Error(`${prefix}PORT: ${error.message}`, { cause: error });
    });
    await closeServer(server);
  }
}

async function recordFor(
  folder: StackFolder,
  env: NodeJS.ProcessEnv,
  services: readonly StackService[],
): Promise<StackRecord> {
  const record = readRecord(folder);
  // Commands that read or write secrets must use the services' keys.
  record.secretKeys = env['SECRET_KEYS'] || record.secretKeys;
  writeRecord(folder, record);
  await claimPorts(folder, record, ['api', 'admin', ...services.map(({ name }) => name)]);
  return record;
}
