import { until } from './until.ts';

/**
 * What a test run lends to its tests, over HTTP on loopback: `cli/test-run/lend-servers.ts` is the other side. It is asked
 * for at the address in TEST_SERVERS.
 */
async function ask<T>(path: string, body: unknown = null): Promise<T> {
  const lender = process.env['TEST_SERVERS'];
  if (lender === undefined) throw new Error('this test needs servers, which ./waybell test starts');
  const response = await fetch(`${lender}/${path}`, { method: 'POST', body: JSON.stringify(body) });
  const text = await response.text();
  if (!response.ok) throw new Error(`${path} was answered with ${response.status}: ${text}`);
  // The lender's answers are typed there, by the same names.
  return JSON.parse(text) as T;
}

/** An empty virtual host that no other test uses, on a broker that others use as well. */
export const borrowVhost = (): Promise<{ url: string }> => ask('vhost');

/** Runs `rabbitmqctl` where borrowed virtual hosts are: it must leave alone what is not in the own one. */
export const controlShared = (...args: string[]): Promise<string> => ask('control', args);

/** An empty database of Redis that no other test uses. */
export const borrowRedis = (): Promise<{ url: string }> => ask('redis');

/** A migrated database, to be cloned, on a Postgres that others use as well. */
export const borrowPostgres = (): Promise<{ url: string }> => ask('postgres');

/** Has the run say that something was tried again, and why. */
export async function noteOfRun(line: string): Promise<void> {
  if (process.env['TEST_SERVERS'] === undefined) process.stderr.write(`tried again: ${line}\n`);
  else await ask('note', line);
}

/** A server that only this test uses, and may stop, kill and fill. */
export type BreakableServer = {
  readonly pid: number | undefined;
  stop(): Promise<void>;
  start(): Promise<void>;
  kill(): Promise<void>;
};

/** A RabbitMQ and a Redis to break; one test at a time has them. The next finds them running, whatever was done to them. */
export type Breakable = AsyncDisposable & {
  /** The URL of an empty virtual host. */
  rabbitmqUrl: string;
  /** The URL of an empty database. */
  redisUrl: string;
  rabbitmq: BreakableServer;
  redis: BreakableServer;
  /** Resolves with the value of an expression of Erlang in RabbitMQ, as soon as that can be had. */
  evaluate(expression: string): Promise<string>;
};

type Taken = { place: number; rabbitmqUrl: string; redisUrl: string; pids: Record<string, number> };

export async function borrowBreakable(): Promise<Breakable> {
  const taken = await ask<Taken>('breakable/take', process.pid);
  // Again where the broker is not reached, or gives up on one that stands still: nothing that tests ask for minds being done twice.
  const evaluate = (expression: string) =>
    until(`RabbitMQ says what ${expression} is`, () => ask<string>('breakable/evaluate', [taken.place, expression]));
  // What the last test did may have left it with an alarm.
  await evaluate('vm_memory_monitor:set_vm_memory_high_watermark(0.4)');
  const server = (name: string): BreakableServer => {
    let { [name]: pid } = taken.pids;
    const go = (verb: string) => async () => {
      ({ pid } = await ask<{ pid?: number }>(`breakable/${verb}`, [taken.place, name]));
    };
    return {
      get pid() {
        return pid;
      },
      stop: go('stop'),
      start: go('start'),
      kill: go('kill'),
    };
  };
  return {
    ...taken,
    rabbitmq: server('rabbitmq'),
    redis: server('redis'),
    evaluate,
    [Symbol.asyncDispose]: () => ask('breakable/give', [taken.place]),
  };
}
