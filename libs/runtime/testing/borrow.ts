import { until } from './until.ts';

/**
 * Borrows from the test run, over HTTP on loopback at the address in TEST_SERVERS; `cli/test-run/lend-servers.ts` is the other
 * side.
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

/** Returns an empty virtual host that no other test uses, on a broker that other tests use too. */
export const borrowVhost = (): Promise<{ url: string }> => ask('vhost');

/** Runs `rabbitmqctl` on the shared broker: it must change only the test's own virtual host. */
export const controlShared = (...args: string[]): Promise<string> => ask('control', args);

/** Returns an empty database of Redis that no other test uses. */
export const borrowRedis = (): Promise<{ url: string }> => ask('redis');

/** Returns a migrated database, on a Postgres that other tests use too, and the name of the one to clone. */
export const borrowPostgres = (): Promise<{ url: string; template: string }> => ask('postgres');

/** Adds a line to the run's report: that something was tried again, and why. */
export async function noteOfRun(line: string): Promise<void> {
  if (process.env['TEST_SERVERS'] === undefined) process.stderr.write(`tried again: ${line}\n`);
  else await ask('note', line);
}

/** A server that only this test uses, and may stop, kill, fill, and have stand still (`freeze`) until it goes on (`thaw`). */
export type BreakableServer = Record<'stop' | 'start' | 'kill' | 'freeze' | 'thaw', () => Promise<void>>;

/** A RabbitMQ and a Redis to break, for one test at a time. The next one finds them running, whatever was done to them. */
export type Breakable = AsyncDisposable & {
  /** The URL of an empty virtual host. */
  rabbitmqUrl: string;
  /** The URL of an empty database. */
  redisUrl: string;
  rabbitmq: BreakableServer;
  redis: BreakableServer;
  /** Resolves with the value of an Erlang expression in RabbitMQ, as soon as that answers. */
  evaluate(expression: string): Promise<string>;
};

type Taken = { place: number; rabbitmqUrl: string; redisUrl: string };

export async function borrowBreakable(): Promise<Breakable> {
  const taken = await ask<Taken>('breakable/take', process.pid);
  // Retries if the broker is not reached, or gives up on one that stands still: evaluating twice does no harm.
  const evaluate = (expression: string) =>
    until(`RabbitMQ says what ${expression} is`, () => ask<string>('breakable/evaluate', [taken.place, expression]));
  // The previous test may have left an alarm.
  await evaluate('vm_memory_monitor:set_vm_memory_high_watermark(0.4)');
  const server = (name: string): BreakableServer => {
    const go = (verb: string) => () => ask<void>(`breakable/${verb}`, [taken.place, name]);
    return { stop: go('stop'), start: go('start'), kill: go('kill'), freeze: go('freeze'), thaw: go('thaw') };
  };
  return {
    ...taken,
    rabbitmq: server('rabbitmq'),
    redis: server('redis'),
    evaluate,
    [Symbol.asyncDispose]: () => ask('breakable/give', [taken.place]),
  };
}
