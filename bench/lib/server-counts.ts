import { readFileSync } from 'node:fs';
import { Redis } from 'ioredis';
import type pg from 'pg';
import { brokerUser } from '@waybell/line/line-topology';
import { evaluate, rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import type { Stack } from '@waybell/stack/stack';
import type { CountedService } from './count-inside.ts';

/** Figures by their names; those of a service are named `<service>: <what>`. */
export type ServerCounts = Record<string, number>;

type CountedConnection = { user: string; recv_oct: number; send_oct: number };

/** Postgres' sessions report what they have done after 10 s of quiet, at the latest. */
export const REPORTED_AFTER_MS = 11_000;

/** Postgres 18 no longer counts syncs there. */
const POSTGRES = `
  select (pg_current_wal_insert_lsn() - '0/0')::float8 "WAL bytes", coalesce((to_jsonb(wal) ->> 'wal_sync')::float8, 'NaN') "WAL syncs",
    xact_commit::float8 "commits", (tup_inserted + tup_updated + tup_deleted)::float8 "rows written"
  from pg_stat_database, pg_stat_wal wal where datname = current_database()`;

/** Counts of the servers, and of the kernel for these services, since their start. */
export async function readCounts(
  { servers }: Stack,
  services: readonly CountedService[],
  postgres: pg.Pool,
): Promise<ServerCounts> {
  const broker = servers.process('rabbitmq').spec;
  const listed = await rabbitmqctl(broker, 'list_connections', '--formatter', 'json', 'user', 'recv_oct', 'send_oct');
  const connections = JSON.parse(listed) as CountedConnection[];
  return {
    ...(await readServerCounts({ servers }, postgres)),
    ...Object.assign({}, ...services.map((service) => countsOf(service, connections))),
  };
}

/** The same of the servers alone; takes milliseconds where Erlang has `erl_call`, so it does not disturb a measurement. */
export async function readServerCounts({ servers }: Pick<Stack, 'servers'>, postgres: pg.Pool): Promise<ServerCounts> {
  const { rows } = await postgres.query<ServerCounts>(POSTGRES);
  return {
    ...rows[0],
    ...messagesIn(await evaluate(servers.process('rabbitmq').spec, 'rabbit_global_counters:overview()')),
    'Redis commands': await redisCommands(servers.url('redis')),
  };
}

/** Returns what was counted between two readings, each divided by so many deliveries. */
export function countsPer(deliveries: number, before: ServerCounts, after: ServerCounts): ServerCounts {
  return Object.fromEntries(
    Object.entries(after).map(([name, value]) => [name, (value - (before[name] ?? 0)) / deliveries]),
  );
}

function countsOf(
  { spec: { name }, identity }: CountedService,
  connections: readonly CountedConnection[],
): ServerCounts {
  const own = connections.filter(({ user }) => user === brokerUser(name));
  return {
    [`${name}: bytes to the broker`]: sum(own.map((each) => each.recv_oct)),
    [`${name}: bytes from the broker`]: sum(own.map((each) => each.send_oct)),
    [`${name}: reads and writes`]: numbersIn(readFileSync(`/proc/${identity?.pid}/io`, 'utf8'), /sysc[rw]: (\d+)/g),
  };
}

/** Counts over all publishers and consumers together: `overview` is a term of Erlang. */
function messagesIn(overview: string): ServerCounts {
  return {
    'messages published': numbersIn(overview, /messages_received_total\s*=>\s*(\d+)/g),
    'messages taken': numbersIn(overview, /messages_delivered_total\s*=>\s*(\d+)/g),
  };
}

/** Commands run by a script count in addition to the script. */
async function redisCommands(url: string): Promise<number> {
  const redis = new Redis(url);
  const stats = await redis.info('commandstats');
  redis.disconnect();
  return numbersIn(stats, /:calls=(\d+)/g);
}

function numbersIn(text: string, pattern: RegExp): number {
  return sum([...text.matchAll(pattern)].map(([, digits]) => Number(digits)));
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((all, each) => all + each, 0);
}
