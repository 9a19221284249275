import { execFile } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { freePort } from '@waybell/stack/free-port';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { waitsFor } from '@waybell/stack/service-process';
import { startServers, type Servers } from '@waybell/stack/servers';
import { STARTING_LIMIT_MS, SupervisedProcess } from '@waybell/stack/supervised-process';
import type { Image } from './build-image.ts';
import { makePasswords, renderCompose, type Compose } from './compose-file.ts';
import { inImage, runInImage } from './run-in-image.ts';

type Address = { host: string; port: number };

/** docker-compose.yml, run without an engine: its commands in the image, on private servers in the place of its own. */
export class ComposedSystem implements AsyncDisposable {
  readonly #image: Image;
  readonly #folder: string;
  readonly #servers: Servers;
  readonly #compose: Compose;
  readonly #taken = new Set<number>();
  readonly #processes: SupervisedProcess[] = [];
  /** What .env has. */
  readonly variables: Record<string, string>;

  private constructor({ image, folder, servers, compose, variables }: Parts) {
    this.#image = image;
    this.#folder = folder;
    this.#servers = servers;
    this.#compose = compose;
    this.variables = variables;
  }

  /** Starts servers that have the users of docker-compose.yml; nothing of Waybell runs yet. */
  static async prepare(image: Image, folder: string): Promise<ComposedSystem> {
    const servers = await startServers({ home: join(folder, 'servers'), isThrowaway: true });
    const passwordOf = (name: 'rabbitmq' | 'postgres' | 'redis') =>
      decodeURIComponent(new URL(servers.url(name)).password);
    const variables = {
      ...makePasswords(join(folder, 'passwords')),
      // These servers have them already.
      RABBITMQ_PASSWORD: passwordOf('rabbitmq'),
      POSTGRES_PASSWORD: passwordOf('postgres'),
      REDIS_PASSWORD: passwordOf('redis'),
      CALLBACK_ALLOW_NETWORKS: '127.0.0.0/8,::1/128',
    };
    const compose = await renderCompose(variables);
    const definitions = join(folder, 'definitions.json');
    writeFileSync(definitions, compose.configs['rabbitmq-definitions']?.content ?? '');
    await rabbitmqctl(servers.process('rabbitmq').spec, 'import_definitions', definitions);
    return new ComposedSystem({ image, folder, servers, compose, variables });
  }

  /** The services that run this image for as long as the system runs. */
  get names(): string[] {
    const isLasting = (name: string) => this.#service(name).command[0]?.startsWith('services/') ?? false;
    return Object.keys(this.#compose.services).filter(isLasting);
  }

  /** Runs a service that ends by itself, such as `migrate`. */
  async runOnce(name: string) {
    const { command, environment } = this.#service(name);
    if (this.#service(name).image === 'waybell') return this.run(command, environment);
    const [program = '', ...args] = command.map((word) => word.replace('=postgres', '=127.0.0.1'));
    const env = { ...process.env, ...environment, PGPORT: String(this.#place('postgres').port) };
    return promisify(execFile)(program, args, { env });
  }

  /** Runs a command of the image, with these settings as docker-compose.yml would write them. */
  async run(args: string[], environment: Record<string, string>, input?: string) {
    const started = { args: [...this.#image.config.Entrypoint, ...args], env: this.#reachable(environment) };
    return runInImage(this.#image, { ...started, ...(input !== undefined && { input }) });
  }

  /** Starts that service, as often as it is called: `--scale`. Here all share one network, so each gets ports of its own. */
  async start(name: string, extra: Record<string, string> = {}): Promise<SupervisedProcess> {
    const { command, environment } = this.#service(name);
    const own = { HEALTH_HOST: '127.0.0.1', HEALTH_PORT: String(await this.freePort()), ...extra };
    const env = { ...this.#reachable(environment), ...own };
    const health = `http://127.0.0.1:${own.HEALTH_PORT}`;
    const process = new SupervisedProcess(
      {
        ...inImage(this.#image, { args: [...this.#image.config.Entrypoint, ...command], env }),
        name,
        role: 'service',
        cwd: '/',
        logFile: join(this.#folder, `${name}-${own.HEALTH_PORT}.log`),
        address: health,
        health,
        waitsFor: async () => waitsFor(health),
        readyMs: STARTING_LIMIT_MS,
        graceMs: 80_000,
      },
      { restart: 'never', onEvent: () => undefined },
    );
    this.#processes.push(process);
    await process.start();
    return process;
  }

  async freePort(): Promise<number> {
    return freePort({ taken: this.#taken });
  }

  /** Stops the services, and resolves with how each ended. */
  async stopServices(): Promise<(string | undefined)[]> {
    await Promise.all(this.#processes.map((process) => process.stop()));
    return this.#processes.map(({ howItEnded }) => howItEnded);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await this.stopServices();
    await this.#servers.stop();
  }

  #service(name: string) {
    const service = this.#compose.services[name];
    if (service === undefined) throw new Error(`docker-compose.yml has no ${name}`);
    return { ...service, command: service.command ?? [], environment: service.environment ?? {} };
  }

  #place(name: 'rabbitmq' | 'postgres' | 'redis'): Address {
    const { hostname: host, port } = new URL(this.#servers.url(name));
    return { host, port: Number(port) };
  }

  /** With the places of the servers here for the names that compose gives them. */
  #reachable(environment: Record<string, string>): Record<string, string> {
    const at = (name: 'rabbitmq' | 'postgres' | 'redis') => `@${this.#place(name).host}:${this.#place(name).port}`;
    const placed = (value: string) =>
      value
        .replace('@rabbitmq:5672', at('rabbitmq'))
        .replace('@postgres:5432', at('postgres'))
        .replace('@redis:6379', at('redis'));
    return Object.fromEntries(Object.entries(environment).map(([name, value]) => [name, placed(value)]));
  }
}

type Parts = {
  image: Image;
  folder: string;
  servers: Servers;
  compose: Compose;
  variables: Record<string, string>;
};
