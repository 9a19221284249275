import { join } from 'node:path';
import pg from 'pg';
import type { ServerName } from '@waybell/stack/choose-sources';
import { onceMore } from '@waybell/stack/once-more';
import { prepareDatabase } from '@waybell/stack/prepare';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { startServers, type Servers } from '@waybell/stack/servers';
import { allowLogins } from '@waybell/stack/service-logins';
import { identify, signalQuietly, untilGone } from '@waybell/stack/process-identity';
import { serveAnswers, type Answers, type Lender } from './serve-answers.ts';

const TEMPLATE = 'waybell_template';
const VHOSTS = { shared: 40, breakable: 12 };

export type Lend = {
  /** Folder for data and logs. */
  home: string;
  report: (line: string) => void;
  /** Hears what was tried again. */
  note: (line: string) => void;
};

/**
 * One RabbitMQ, Postgres and Redis for all tests, each of which gets a virtual host or a database of its own; and a
 * RabbitMQ and a Redis for those that break them, one after the other, started when first asked for. Resolves while they
 * start: a borrower waits.
 */
export async function lendServers({ home, report, note }: Lend): Promise<Lender> {
  const start = (name: keyof typeof VHOSTS, only?: ServerName[]) =>
    onceMore(note, () =>
      startServers({
        home: join(home, name),
        vhosts: vhostsOf(name),
        isThrowaway: true,
        report,
        ...(only && { only }),
      }),
    );
  const shared = start('shared');
  const template = shared.then(makeTemplate);
  // A test that borrows from it is told.
  template.catch(() => undefined);
  const vhosts = vhostsOf('shared').values();
  const databases = counter();
  const breakable = new BreakableServers(() => start('breakable', ['rabbitmq', 'redis']));
  const lender = await serveAnswers({
    vhost: async () => ({ url: onVhost(await shared, vhosts) }),
    // Strings: borrow.ts sends nothing else.
    control: async (args) => rabbitmqctl((await shared).process('rabbitmq').spec, ...(args as string[])),
    redis: async () => ({ url: onDatabase(await shared, databases) }),
    postgres: async () => ({ url: await template }),
    // A line of text: borrow.ts sends nothing else.
    note: async (line) => note(line as string),
    ...breakable.answers(),
  });
  return {
    environment: lender.environment,
    async [Symbol.asyncDispose]() {
      await lender[Symbol.asyncDispose]();
      await breakable[Symbol.asyncDispose]();
      await (await shared.catch(() => undefined))?.stop();
    },
  };
}

/** A RabbitMQ and a Redis that one test at a time may stop, kill and fill. */
class BreakableServers implements AsyncDisposable {
  readonly #start: () => Promise<Servers>;
  readonly #vhosts = vhostsOf('breakable').values();
  readonly #databases = counter();
  #servers: Promise<Servers> | undefined;
  #turn = Promise.resolve();
  /** Tests that give them back have undone what they did. */
  #isGiven = true;
  /** Pid of the process that has them, or is to have them next. */
  #holder: number | undefined;
  #done: () => void = () => undefined;

  constructor(start: () => Promise<Servers>) {
    this.#start = start;
  }

  answers(): Answers {
    const tell = (name: 'rabbitmq' | 'redis', verb: 'stop' | 'start' | 'kill') => async () => {
      const process = (await this.#running()).process(name);
      await process[verb]();
      return { pid: process.identity?.pid };
    };
    const verbs = (['stop', 'start', 'kill'] as const).flatMap((verb) =>
      (['rabbitmq', 'redis'] as const).map((name) => [`breakable/${name}/${verb}`, tell(name, verb)] as const),
    );
    return {
      // The pid of the process that the test runs in.
      'breakable/take': (pid) => this.#take(pid as number),
      'breakable/give': async () => this.#give(),
      // Strings: borrow.ts sends nothing else.
      'breakable/control': async (args) =>
        rabbitmqctl((await this.#running()).process('rabbitmq').spec, ...(args as string[])),
      ...Object.fromEntries(verbs),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#servers?.catch(() => undefined))?.stop();
  }

  async #take(pid: number) {
    const [before, holder] = [this.#turn, this.#holder];
    const { promise, resolve } = Promise.withResolvers<void>();
    this.#turn = promise;
    this.#holder = pid;
    // One that ended without giving them back has crashed, or has another test file in its hands now.
    if (holder !== pid) await Promise.race([before, untilDead(holder)]);
    await this.#right();
    this.#done = resolve;
    const servers = await this.#running();
    const pids = Object.fromEntries(servers.processes.map(({ spec, identity }) => [spec.name, identity?.pid]));
    return { rabbitmqUrl: onVhost(servers, this.#vhosts), redisUrl: onDatabase(servers, this.#databases), pids };
  }

  #give(): void {
    this.#isGiven = true;
    this.#done();
  }

  /** Leaves them running and without an alarm for the next run, whatever the last one did to them. */
  async #right(): Promise<void> {
    const servers = await (this.#servers ??= this.#start());
    for (const process of servers.processes) {
      if (process.identity !== undefined) signalQuietly(process.identity.pid, 'SIGCONT');
      if (process.state === 'stopped') await process.start();
    }
    if (!this.#isGiven) await rabbitmqctl(servers.process('rabbitmq').spec, 'set_vm_memory_high_watermark', '0.4');
    this.#isGiven = false;
  }

  async #running(): Promise<Servers> {
    if (this.#servers === undefined) throw new Error('no test run has taken the servers to break');
    return this.#servers;
  }
}

async function untilDead(pid: number | undefined): Promise<void> {
  const identity = pid === undefined ? undefined : identify(pid);
  if (identity !== undefined) await untilGone(identity, Infinity);
}

/** Resolves with the address of a migrated database to clone, on a server that lets every service's user log in. */
async function makeTemplate(servers: Servers): Promise<string> {
  const url = new URL(servers.url('postgres'));
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  await client.end();
  url.pathname = `/${TEMPLATE}`;
  await prepareDatabase({ url: url.href });
  await allowLogins(servers);
  return url.href;
}

const vhostsOf = (name: keyof typeof VHOSTS): string[] =>
  Array.from({ length: VHOSTS[name] }, (_, place) => `${name}-${String(place + 1).padStart(2, '0')}`);

function onVhost(servers: Servers, vhosts: Iterator<string>): string {
  const next = vhosts.next();
  if (next.done === true) throw new Error('more tests use RabbitMQ than there are virtual hosts: see VHOSTS');
  const url = new URL(servers.url('rabbitmq'));
  url.pathname = `/${next.value}`;
  return url.href;
}

function onDatabase(servers: Servers, databases: Iterator<number>): string {
  const url = new URL(servers.url('redis'));
  url.pathname = `/${databases.next().value}`;
  return url.href;
}

function* counter(): Generator<number, never> {
  for (let next = 1; ; next += 1) yield next;
}
