/**
 * A server that a stack has for itself, from a binary of this machine or in a container of Docker: what starts it, where its
 * environment and its image come from, and how a container and its data are removed.
 */

import { spawnSync } from 'node:child_process';
import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { SERVER_NAMES, SERVERS, type ServerName } from './choose-sources.ts';
import { CONTAINER_LABEL, docker, lastLine, removeContainersNow } from './docker.ts';
import { logFileOf, repository, type StackFolder } from './stack-folder.ts';
import { containedAs, type StackRecord } from './stack-record.ts';
import type { ProcessSpec } from './supervised-process.ts';

export type ServerKind = {
  /** Virtual hosts of RabbitMQ in addition to `/`, with the same users and rights. */
  vhosts?: readonly string[] | undefined;
  /** Lines for rabbitmq.conf in addition to those that every node has. */
  configuration?: readonly string[] | undefined;
  /** For tests: nothing of it is to survive the machine, and many share it. */
  isThrowaway?: boolean | undefined;
};

export type ServerSetup = { folder: StackFolder; record: StackRecord; binary: string } & ServerKind;

/** `report` gets what lasts long. */
export type ContainerSetup = Omit<ServerSetup, 'binary'> & { report: (line: string) => void };

/** A server of one stack, from a local binary or in a container. `prepare` writes its settings and, the first time, its data folder. */
export type PrivateServer = {
  url: string;
  /** In the order in which they are started. */
  processes: ProcessSpec[];
  prepare: () => Promise<void>;
};

/** The part of the caller's environment that a private server gets: nothing that could reconfigure it (PGDATA, RABBITMQ_…). */
export function serverEnvironment(variables: Record<string, string>): NodeJS.ProcessEnv {
  const { PATH = '/usr/sbin:/usr/bin:/sbin:/bin', TZ } = process.env;
  return { PATH, LANG: 'C.UTF-8', ...(TZ === undefined ? {} : { TZ }), ...variables };
}

type Contained = {
  name: ServerName;
  /** Ports on 127.0.0.1, by those within. */
  ports: Record<number, number>;
  /** The folder that is kept from one run to the next, where any is. */
  data?: string;
  /** A file or folder to copy, and where to. Others than root must be able to read it there. */
  copied?: { from: string; to: string };
  env?: Record<string, string>;
  options?: string[];
  args: string[];
};

/**
 * Runs a container for as long as this process lives, forwards signals to it, and prints its output. Arguments: name, sources and
 * targets of copies, arguments of `docker create`.
 */
const RUN = `
name=$1 from=$2 to=$3
shift 3
docker rm --force --volumes "$name" >/dev/null 2>&1
docker create --rm --name "$name" "$@" >/dev/null || exit
[ -z "$from" ] || docker cp "$from" "$name:$to" >/dev/null || exit
exec docker start --attach "$name"`;

/** The process that stands for a container of a stack: of what `docker` needs, the caller's environment says where the engine is. */
export function inContainer({ folder, record }: Pick<ServerSetup, 'folder' | 'record'>, contained: Contained) {
  const { name, ports, data, copied, env = {}, options = [], args } = contained;
  const container = containerOf(containedAs(folder, record), name);
  const label = process.env[CONTAINER_LABEL];
  const mount = `type=volume,source=${container},target=${data}${label ? `,volume-label=${label}` : ''}`;
  const created = [
    `--hostname=${name}`,
    ...Object.entries(ports).map(([inside, port]) => `--publish=127.0.0.1:${port}:${inside}`),
    // Without their values, which others could read in the list of processes.
    ...Object.keys(env).map((variable) => `--env=${variable}`),
    ...(data === undefined ? [] : [`--mount=${mount}`]),
    ...(label ? [`--label=${label}`] : []),
    ...options,
    imageOf(name),
    ...args,
  ];
  return {
    name,
    role: 'server',
    container,
    command: 'sh',
    args: ['-c', RUN, 'sh', container, copied?.from ?? '', copied?.to ?? '', ...created],
    env: { ...process.env, ...env },
    cwd: folder.home,
    logFile: logFileOf(folder, name),
  } satisfies Partial<ProcessSpec>;
}

/** Has the engine fetch the image unless it has it. Throws where it cannot. */
export async function fetchImage(name: ServerName, report: (line: string) => void): Promise<void> {
  const image = imageOf(name);
  const { status } = spawnSync('docker', ['image', 'inspect', image], { stdio: 'ignore' });
  if (status === 0) return;
  report(`the Docker engine fetches ${image}, once`);
  await docker('pull', '--quiet', image).catch((error: Error) => {
    throw new Error(
      `the Docker engine could not fetch ${image}: ${lastLine(error.message)}. Where it has no way to its registry, ` +
        `load that image ("docker load"), or install ${name}, or name one that runs already (${SERVERS[name]})`,
      { cause: error },
    );
  });
}

/** Removes the containers of a stack with their data. Throws where the engine does not answer. */
export function removeContained({ containedAs: stack }: StackRecord): void {
  if (stack === undefined) return;
  const containers = SERVER_NAMES.map((name) => containerOf(stack, name));
  removeContainersNow(containers);
  for (const volume of containers) {
    const { status, stderr } = spawnSync('docker', ['volume', 'rm', '--force', volume], {
      encoding: 'utf8',
      timeout: 20_000,
    });
    if (status !== 0)
      throw new Error(`the data in Docker's volume ${volume} could not be deleted: ${lastLine(stderr ?? '')}`);
  }
}

const containerOf = (stack: string, name: ServerName): string => `waybell-${stack}-${name}`;

/** Returns the image that docker-compose.yml uses. */
function imageOf(name: ServerName): string {
  const file = readFileSync(join(repository, 'docker-compose.yml'), 'utf8');
  const [, image] = new RegExp(String.raw`image: (?:&\w+ )?(${name}:\S+)`).exec(file) ?? [];
  if (image === undefined) throw new Error(`docker-compose.yml names no image of ${name}`);
  return image.replace(/\$\{(\w+):-([\d.]+)\}/, (_, variable: string, usual: string) => process.env[variable] || usual);
}
