/**
 * Servers that tests break, and how a run of tests lends them: each pair of a RabbitMQ and a Redis belongs to one test process
 * until that gives it back or ends; `libs/runtime/testing/borrow.ts` is the borrower's side, over HTTP.
 */

import { createServer } from 'node:http';
import { json } from 'node:stream/consumers';
import { closeServer, listen } from '@waybell/runtime/health';
import { identify, untilGone } from '@waybell/stack/process-identity';
import { evaluate } from '@waybell/stack/rabbitmqctl';
import type { Servers } from '@waybell/stack/servers';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';

/** The side of libs/runtime/testing/borrow.ts that lends. */
export type Lender = AsyncDisposable & { environment: Record<string, string> };

type AnswerHandlers = Record<string, (body: unknown) => Promise<unknown>>;

/** Servers that start, and what of them is empty and for one test. */
export type TestServers = { servers: Promise<Servers>; vhost: () => Promise<string>; database: () => Promise<string> };

type StartPair = (place: number) => TestServers;

/** The number of tests at a time. */
const PAIRS = 2;
const VERBS: Record<string, (server: SupervisedProcess) => Promise<void>> = {
  stop: (server) => server.stop(),
  start: (server) => server.start(),
  kill: (server) => server.kill(),
  freeze: (server) => server.signal('SIGSTOP'),
  thaw: (server) => server.signal('SIGCONT'),
};

/** A RabbitMQ and a Redis that one test at a time may stop, kill and fill; started when none is free. */
export class BreakableServers implements AsyncDisposable {
  readonly #start: StartPair;
  readonly #pairs: Pair[] = [];

  constructor(start: StartPair) {
    this.#start = start;
  }

  answers(): AnswerHandlers {
    // borrow.ts sends the place of the pair, and the command.
    const on = (work: (pair: Pair, what: string) => Promise<unknown>) => async (body: unknown) => {
      const [place, what] = body as [number, string];
      const pair = this.#pairs[place];
      return pair && work(pair, what);
    };
    return {
      // The pid of the process that the test runs in.
      'breakable/take': (pid) => this.#borrow(pid as number),
      'breakable/give': on(async (pair) => pair.giveBack()),
      'breakable/evaluate': on((pair, expression) => pair.evaluate(expression)),
      ...Object.fromEntries(
        Object.entries(VERBS).map(([verb, act]) => [
          `breakable/${verb}`,
          on(async (pair, name) => act(await pair.server(name as 'rabbitmq' | 'redis'))),
        ]),
      ),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await Promise.all(this.#pairs.map((pair) => pair[Symbol.asyncDispose]()));
  }

  async #borrow(pid: number) {
    for (;;) {
      const pair = this.#pairs.find((each) => each.isFree(pid)) ?? this.#another();
      if (pair !== undefined) return { place: this.#pairs.indexOf(pair), ...(await pair.borrow(pid)) };
      await Promise.race(this.#pairs.map((each) => each.untilFree()));
    }
  }

  #another(): Pair | undefined {
    if (this.#pairs.length === PAIRS) return undefined;
    const pair = new Pair(this.#start(this.#pairs.length));
    this.#pairs.push(pair);
    return pair;
  }
}

class Pair implements AsyncDisposable {
  readonly #servers: TestServers;
  /** Pid of the process that has them. */
  #holder: number | undefined;
  #returned = Promise.withResolvers<void>();

  constructor(servers: TestServers) {
    this.#servers = servers;
    // The error is reported to a test that borrows them.
    servers.servers.catch(() => undefined);
  }

  /** For that process: one that has them already runs another test file now. */
  isFree(pid: number): boolean {
    return this.#holder === undefined || this.#holder === pid;
  }

  untilFree(): Promise<void> {
    return this.#returned.promise;
  }

  /** They run, whatever the last test did to them. */
  async borrow(pid: number) {
    const returned = Promise.withResolvers<void>();
    this.#holder = pid;
    this.#returned = returned;
    // A process that crashed gives nothing back.
    void untilDead(pid).then(() => returned === this.#returned && this.giveBack());
    const servers = await this.#servers.servers;
    for (const process of servers.processes) {
      await process.signal('SIGCONT');
      if (process.state === 'stopped') await process.start();
    }
    return { rabbitmqUrl: await this.#servers.vhost(), redisUrl: await this.#servers.database() };
  }

  giveBack(): void {
    this.#holder = undefined;
    this.#returned.resolve();
  }

  async evaluate(expression: string): Promise<string> {
    return evaluate((await this.#servers.servers).process('rabbitmq').spec, expression);
  }

  async server(name: 'rabbitmq' | 'redis'): Promise<SupervisedProcess> {
    return (await this.#servers.servers).process(name);
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await (await this.#servers.servers.catch(() => undefined))?.stop();
  }
}

async function untilDead(pid: number): Promise<void> {
  const identity = identify(pid);
  if (identity !== undefined) await untilGone(identity, Infinity);
}

/** Answers each path by its function; what that throws is the answer's text, with status 500. */
export async function serveAnswers(answers: AnswerHandlers): Promise<Lender> {
  const server = createServer((request, response) => {
    // Tests check that no socket is left open.
    response.setHeader('connection', 'close');
    json(request)
      .then((body) => answers[request.url?.slice(1) ?? '']?.(body))
      .then((answer) => response.end(JSON.stringify(answer ?? null)))
      .catch((error: unknown) => response.writeHead(500).end(String(error)));
  });
  const { port } = await listen(server, { host: '127.0.0.1', port: 0 });
  return {
    environment: { TEST_SERVERS: `http://127.0.0.1:${port}` },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      await closeServer(server);
    },
  };
}
