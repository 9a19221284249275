import { join } from 'node:path';
import pg from 'pg';
import { chooseSources, SERVER_NAMES, type ServerName } from '@waybell/stack/choose-sources';
import { CONTAINER_LABEL } from '@waybell/stack/docker';
import { prepareDatabase } from '@waybell/stack/prepare';
import { rabbitmqctl } from '@waybell/stack/rabbitmqctl';
import { startServers, type Servers } from '@waybell/stack/servers';
import { allowLogins } from '@waybell/stack/service-logins';
import { onceMore } from '@waybell/stack/supervised-process';
import { thisMachine } from '@waybell/stack/this-machine';
import { BreakableServers, serveAnswers, type TestServers, type Lender } from './breakable-servers.ts';

const TEMPLATE = 'waybell_template';
/** A migrated database that tests may connect to. Nobody can connect to the template: it could not be cloned meanwhile. */
const LENT = 'waybell_lent';
const VHOSTS = { shared: 40, breakable: 24 };

type Lend = {
  /** Folder for data and logs. */
  home: string;
  report: (line: string) => void;
  /** Gets a line for each test that was repeated. */
  note: (line: string) => void;
};

/**
 * One RabbitMQ, Postgres and Redis for all tests, each of which gets a virtual host or a database of its own; and others
 * for those that break them, started when first asked for. Resolves while they start: a borrower waits. Throws NoServer.
 */
export async function lendServers({ home, report, note }: Lend): Promise<Lender> {
  const sources = await chooseSources(SERVER_NAMES, {}, thisMachine(report));
  const isContained = Object.values(sources).some(({ from }) => from === 'engine');
  const reaped = isContained ? await reapContainers() : {};
  const begin = (name: string, vhosts: number, only?: ServerName[]) =>
    testServers(vhosts, (names) =>
      onceMore(note, () =>
        startServers({ home: join(home, name), vhosts: names, isThrowaway: true, report, ...(only && { only }) }),
      ),
    );
  const { servers, vhost, database } = begin('shared', VHOSTS.shared);
  const template = servers.then(makeTemplate);
  // The error is reported to a test that borrows from it.
  template.catch(() => undefined);
  const breakable = new BreakableServers((place) =>
    begin(`breakable-${place}`, VHOSTS.breakable, ['rabbitmq', 'redis']),
  );
  const lender = await serveAnswers({
    vhost: async () => ({ url: await vhost() }),
    // Strings: borrow.ts sends nothing else.
    control: async (args) => rabbitmqctl((await servers).process('rabbitmq').spec, ...(args as string[])),
    redis: async () => ({ url: await database() }),
    postgres: async () => ({ url: await template, template: TEMPLATE }),
    // A line of text: borrow.ts sends nothing else.
    note: async (line) => note(line as string),
    ...breakable.answers(),
  });
  return {
    environment: { ...lender.environment, ...reaped },
    async [Symbol.asyncDispose]() {
      await lender[Symbol.asyncDispose]();
      await breakable[Symbol.asyncDispose]();
      // Cut off in the middle, it would end this process.
      await template.catch(() => undefined);
      await (await servers.catch(() => undefined))?.stop();
    },
  };
}

/** Makes the databases. Resolves with the address of the one to connect to, on a server that lets every service's user log in. */
async function makeTemplate(servers: Servers): Promise<string> {
  const url = new URL(servers.url('postgres'));
  const client = new pg.Client({ connectionString: url.href });
  await client.connect();
  await client.query(`create database ${TEMPLATE}`);
  url.pathname = `/${TEMPLATE}`;
  await prepareDatabase({ url: url.href });
  await allowLogins(servers);
  await client.query(`alter database ${TEMPLATE} allow_connections false`);
  await client.query(`create database ${LENT} template ${TEMPLATE} strategy file_copy`);
  await client.end();
  url.pathname = `/${LENT}`;
  return url.href;
}

/** Servers with this many virtual hosts, each of which is lent once. */
function testServers(vhosts: number, start: (vhosts: string[]) => Promise<Servers>): TestServers {
  const names = Array.from({ length: vhosts }, (_, place) => `test-${String(place + 1).padStart(2, '0')}`);
  const [unused, databases] = [names.values(), counter()];
  const servers = start(names);
  return {
    servers,
    vhost: async () => onVhost(await servers, unused),
    database: async () => onDatabase(await servers, databases),
  };
}

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

/**
 * Has testcontainers remove the containers and volumes of this process when it is gone, however it ends. Resolves with the
 * variable by which this process, and those that it starts, label them.
 */
async function reapContainers(): Promise<Record<string, string>> {
  // Takes a second to load.
  const { getContainerRuntimeClient, getReaper, LABEL_TESTCONTAINERS_SESSION_ID } = await import('testcontainers');
  const { sessionId } = await getReaper(await getContainerRuntimeClient());
  const label = `${LABEL_TESTCONTAINERS_SESSION_ID}=${sessionId}`;
  process.env[CONTAINER_LABEL] = label;
  return { [CONTAINER_LABEL]: label };
}
