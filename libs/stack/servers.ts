import { chooseSources, isExternal, SERVER_NAMES, SERVERS, type ServerName, type Sources } from './choose-sources.ts';
import { postgres, postgresContainer } from './postgres.ts';
import type { ContainerSetup, PrivateServer, ServerKind, ServerSetup } from './private-server.ts';
import { MANAGEMENT, rabbitmq, rabbitmqContainer } from './rabbitmq.ts';
import { redis, redisContainer } from './redis.ts';
import { makeFolders, rotateLog, stackFolder } from './stack-folder.ts';
import { claimPorts, readRecord } from './stack-record.ts';
import { SupervisedProcess, type RestartPolicy, type ProcessEvent } from './supervised-process.ts';
import { thisMachine } from './this-machine.ts';

export type ServersOptions = ServerKind & {
  /** Folder for data, logs and secrets. */
  home: string;
  /** The environment that may name servers that run already; none by default. */
  env?: NodeJS.ProcessEnv;
  /** Addresses at which servers of another owner have been made ready for this stack. */
  lent?: Partial<Record<ServerName, string>>;
  /** The servers that are needed; all by default. */
  only?: ServerName[];
  /** Whether a server is started again when it ends by itself; not by default. */
  restart?: RestartPolicy;
  onEvent?: (event: ProcessEvent) => void;
  report?: (line: string) => void;
};

const MAKERS: Record<ServerName, (setup: ServerSetup) => PrivateServer> = { rabbitmq, postgres, redis };
const CONTAINED: Record<ServerName, (setup: ContainerSetup) => PrivateServer> = {
  rabbitmq: rabbitmqContainer,
  postgres: postgresContainer,
  redis: redisContainer,
};

// RabbitMQ needs three: for clients, for other nodes (the command line tools are such), and for its port mapper.
const PORTS = [...SERVER_NAMES, 'rabbitmq-node', 'epmd'];

/** Running servers: private ones, as programs or in containers, or another owner's. Closing it stops those that it started. */
export class Servers implements AsyncDisposable {
  readonly sources: Sources;
  readonly processes: SupervisedProcess[];
  readonly #urls = new Map<ServerName, string>();
  readonly #starting = new Map<ServerName, Promise<void>>();
  readonly #halt = new AbortController();

  constructor({ sources, privately, restart, onEvent }: Plan) {
    this.sources = sources;
    for (const name of SERVER_NAMES) {
      const source = sources[name];
      const url = isExternal(source) ? source.url : privately.get(name)?.url;
      if (url !== undefined) this.#urls.set(name, url);
    }
    const supervised = [...privately].map(([name, server]) => {
      const processes = server.processes.map((spec) => new SupervisedProcess(spec, { restart, onEvent }));
      return { name, server, processes };
    });
    this.processes = supervised.flatMap(({ processes }) => processes);
    for (const { name, server, processes } of supervised) {
      const starting = this.#startAll(server, processes);
      // A waiter gets the failure; there may be none yet.
      starting.catch(() => undefined);
      this.#starting.set(name, starting);
    }
  }

  url(name: ServerName): string {
    const url = this.#urls.get(name);
    if (url === undefined) throw new Error(`${name} was not asked for`);
    return url;
  }

  /** The addresses as a service's environment has them: AMQP_URL, DATABASE_URL, REDIS_URL. */
  get environment(): Record<string, string> {
    return Object.fromEntries([...this.#urls].map(([name, url]) => [SERVERS[name], url]));
  }

  /** The process of a private server, to stop, kill or restart it. */
  process(name: ServerName): SupervisedProcess {
    const process = this.processes.find(({ spec }) => spec.name === name);
    if (process === undefined) throw new Error(`${name} does not run as a private server here`);
    return process;
  }

  /** Resolves when that server takes work; the others may still be starting. */
  async ready(name: ServerName): Promise<void> {
    await this.#starting.get(name);
  }

  async stop(): Promise<void> {
    this.#halt.abort();
    // The port mapper last: its broker says goodbye to it.
    const [mappers, others] = [this.processes.filter(isMapper), this.processes.filter((one) => !isMapper(one))];
    await Promise.all(others.map((one) => one.stop()));
    await Promise.allSettled(this.#starting.values());
    await Promise.all(mappers.map((one) => one.stop()));
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stop();
  }

  async #startAll(server: PrivateServer, processes: SupervisedProcess[]): Promise<void> {
    for (const { spec } of processes) rotateLog(spec.logFile);
    await server.prepare();
    for (const process of processes) {
      if (this.#halt.signal.aborted) return;
      await process.start();
    }
  }
}

type Plan = {
  sources: Sources;
  privately: Map<ServerName, PrivateServer>;
  restart: RestartPolicy;
  onEvent: (event: ProcessEvent) => void;
};

const isMapper = ({ spec }: SupervisedProcess): boolean => spec.name === 'epmd';

/**
 * Starts private servers, all at once, and resolves when they are ready. Throws StartFailed (after stopping those that it
 * started) or NoServer.
 */
export async function startServers(options: ServersOptions): Promise<Servers> {
  const servers = await beginServers(options);
  try {
    await Promise.all(SERVER_NAMES.map((name) => servers.ready(name)));
  } catch (error) {
    await servers.stop();
    throw error;
  }
  return servers;
}

/** Starts servers without waiting for them: see `ready`. The caller stops them whatever happens. */
export async function beginServers(options: ServersOptions): Promise<Servers> {
  const { env = {}, only = SERVER_NAMES, restart = 'never', lent = {}, vhosts, configuration, isThrowaway } = options;
  const { onEvent = () => undefined, report = () => undefined } = options;
  const folder = stackFolder(options.home);
  makeFolders(folder);
  const sources: Sources = await chooseSources(
    only.filter((name) => !lent[name]),
    env,
    thisMachine(report),
  );
  for (const name of only) if (lent[name] !== undefined) sources[name] = { from: 'lent', url: lent[name] };
  const record = readRecord(folder);
  const isManaged = only.includes('rabbitmq') && !isExternal(sources.rabbitmq) && isThrowaway !== true;
  await claimPorts(folder, record, isManaged ? [...PORTS, MANAGEMENT] : PORTS);
  const privately = new Map<ServerName, PrivateServer>();
  for (const name of only) {
    const source = sources[name];
    const setup = { folder, record, vhosts, configuration, isThrowaway };
    if (source?.from === 'binary') privately.set(name, MAKERS[name]({ ...setup, binary: source.path }));
    if (source?.from === 'engine') privately.set(name, CONTAINED[name]({ ...setup, report }));
  }
  return new Servers({ sources, privately, restart, onEvent });
}
