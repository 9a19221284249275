import { spawn, spawnSync } from 'node:child_process';
import { join } from 'node:path';
import { brokerUser, permissions } from '@waybell/line/operating/permissions';
import type { ServerName } from './choose-sources.ts';
import { passwordOf } from '@waybell/runtime/local-passwords';
import { services } from './services.ts';
import { repository, type StackFolder } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { throwawayContainers } from './throwaway-containers.ts';

const COMPOSE_FILE = 'docker-compose.yml';

/** Set in the environment of tests: containers are then removed with the process that started them. */
export const THROWAWAY = 'WAYBELL_THROWAWAY_CONTAINERS';

/** Servers run by a Docker engine, from docker-compose.yml, as a project of their own per stack. */
export type EngineServers = {
  urls: Partial<Record<ServerName, string>>;
  start(): Promise<void>;
  stop(): Promise<void>;
};

export function engineServers(options: {
  folder: StackFolder;
  record: StackRecord;
  names: ServerName[];
}): EngineServers {
  const { folder, record, names } = options;
  const env = engineEnvironment(record);
  const at = (name: ServerName) => `127.0.0.1:${portOf(record, name)}`;
  const urls = {
    rabbitmq: `amqp://waybell:${record.brokerPassword}@${at('rabbitmq')}`,
    postgres: `postgres://waybell:${record.databasePassword}@${at('postgres')}/waybell`,
    redis: `redis://:${record.cachePassword}@${at('redis')}/0`,
  };
  const own = { urls: Object.fromEntries(names.map((name) => [name, urls[name]])) };
  if (process.env[THROWAWAY] !== undefined) {
    const project = projectOf(folder);
    return { ...own, ...throwawayContainers({ folder: repository, file: COMPOSE_FILE, project, names, env }) };
  }
  return {
    ...own,
    start: () => compose(folder, ['up', '--detach', '--wait', ...names], env),
    stop: () => compose(folder, ['stop'], env),
  };
}

/** Removes the containers of a stack and their data. Nothing to remove is fine. */
export function removeEngineServers(folder: StackFolder): void {
  spawnSync('docker', composeArgs(folder, ['down', '--volumes']), { stdio: 'ignore', timeout: 60_000 });
}

/** The variables that docker-compose.yml takes. */
function engineEnvironment(record: StackRecord): Record<string, string> {
  return {
    ...composePasswords(record),
    WAYBELL_RABBITMQ_PORT: String(portOf(record, 'rabbitmq')),
    WAYBELL_POSTGRES_PORT: String(portOf(record, 'postgres')),
    WAYBELL_REDIS_PORT: String(portOf(record, 'redis')),
  };
}

/** The passwords by the names that docker-compose.yml gives them. */
function composePasswords({ brokerPassword, databasePassword, cachePassword }: StackRecord): Record<string, string> {
  const users = Object.keys(permissions).map((name) => [
    `RABBITMQ_${name.replaceAll('-', '_').toUpperCase()}_PASSWORD`,
    passwordOf(brokerUser(name), brokerPassword),
  ]);
  const roles = services.flatMap(({ databaseRole: role }) =>
    role === undefined
      ? []
      : [[`POSTGRES_${role.slice('waybell_'.length).toUpperCase()}_PASSWORD`, passwordOf(role, databasePassword)]],
  );
  return {
    RABBITMQ_PASSWORD: brokerPassword,
    POSTGRES_PASSWORD: databasePassword,
    REDIS_PASSWORD: cachePassword,
    ...Object.fromEntries([...users, ...roles]),
  };
}

const projectOf = (folder: StackFolder): string => `waybell-${folder.id}`;

function composeArgs(folder: StackFolder, args: string[]): string[] {
  return ['compose', '--project-name', projectOf(folder), '--file', join(repository, COMPOSE_FILE), ...args];
}

async function compose(folder: StackFolder, args: string[], env: Record<string, string>): Promise<void> {
  // Its progress is for the terminal, and stdout is for what the command itself answers.
  const child = spawn('docker', composeArgs(folder, args), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 2, 2],
  });
  const status = await new Promise((resolve) => {
    child.once('error', resolve);
    child.once('exit', resolve);
  });
  if (status !== 0) throw new Error(`docker compose ${args[0]} ended with ${String(status)}`);
}
