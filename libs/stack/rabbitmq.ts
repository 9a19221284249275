import { mkdirSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { onConnection } from '@waybell/line/operating/connect-once';
import { passwordOf } from '@waybell/runtime/local-passwords';
import { hostAndPort, reaches } from './ports.ts';
import {
  fetchImage,
  inContainer,
  serverEnvironment,
  type ContainerSetup,
  type PrivateServer,
  type ServerSetup,
} from './private-server.ts';
import { ADMINISTRATOR, definitions, MONITOR, withMonitor } from './rabbitmq-definitions.ts';
import { findInErlang } from './rabbitmqctl.ts';
import { logFileOf, writePrivately } from './stack-folder.ts';
import { portOf, type StackRecord } from './stack-record.ts';
import { STARTING_LIMIT_MS, type ProcessSpec } from './supervised-process.ts';

/**
 * After a crash the broker may publish an expired retry to a queue that has no leader yet. It tries again after this time,
 * instead of 180,000 ms; until then no queue counts that retry.
 */
export const DEAD_LETTER_TIMEOUT_MS = 5_000;
const DEAD_LETTER_TIMEOUT = `-rabbit dead_letter_worker_publisher_confirm_timeout ${DEAD_LETTER_TIMEOUT_MS}`;

/** A process reads a message whole before it knows its type: the broker refuses larger ones, and closes the channel. */
export const MAX_MESSAGE_BYTES = 2 ** 24;

/** A million waiting messages in 0.4 GB of memory; several times that with the default of 512 MiB. */
const WRITE_AHEAD_BYTES = 2 ** 26;

/** Settings of every broker, as docs/operating/rabbitmq.md, docker-compose.yml and the chart's notes have them. */
export const BROKER_SETTINGS = {
  'raft.wal_max_size_bytes': String(WRITE_AHEAD_BYTES),
  // Publishers wait below it. The broker still writes what is acknowledged, and needs twice its log for that: with less it loses queues.
  'disk_free_limit.absolute': '200MB',
  max_message_size: String(MAX_MESSAGE_BYTES),
} as const;

/** The name under which the port of the management API is claimed. */
export const MANAGEMENT = 'rabbitmq-management';

/** The management API of a stack's RabbitMQ, as a user that may read policies, and no message. Undefined where it has none. */
export function managementOf({ ports, brokerPassword }: StackRecord): string | undefined {
  const port = ports[MANAGEMENT];
  return port === undefined ? undefined : `http://${MONITOR}:${passwordOf(MONITOR, brokerPassword)}@127.0.0.1:${port}`;
}

/**
 * RabbitMQ for one stack: its own node name, cookie, ports and port mapper (epmd), on loopback; of all plugins the management
 * API alone, and tests do without. Several run side by side and none touches the machine's own.
 */
export function rabbitmq(setup: ServerSetup): PrivateServer {
  const { folder, record, isThrowaway } = setup;
  const node = rabbitmqNode(setup, {
    name: 'rabbitmq',
    nodeName: `waybell-${folder.id}@localhost`,
    ...(isThrowaway !== true && { managementPort: portOf(record, MANAGEMENT) }),
  });
  return { ...node, processes: [portMapper(setup), ...node.processes] };
}

export type NodeOptions = {
  /** The name of the process, its log, its folder, and its ports: `<name>` for clients, `<name>-node` for other nodes. */
  name: string;
  nodeName: string;
  /** The port of the management API; there is none without it. */
  managementPort?: number;
};

/** One node. It needs the port mapper, which the nodes of a cluster share. */
export function rabbitmqNode(setup: ServerSetup, options: NodeOptions): PrivateServer {
  const { folder, record, binary, vhosts, configuration } = setup;
  const { name, nodeName, managementPort } = options;
  const home = join(folder.home, name);
  refuseForShell(folder.home);
  const port = portOf(record, name);
  const url = `amqp://waybell:${record.brokerPassword}@127.0.0.1:${port}`;
  const env = serverEnvironment({
    HOME: home,
    ERL_EPMD_PORT: String(portOf(record, 'epmd')),
    ERL_EPMD_ADDRESS: '127.0.0.1',
    ERL_CRASH_DUMP: join(home, 'erl_crash.dump'),
    RABBITMQ_CONF_ENV_FILE: join(home, 'rabbitmq-env.conf'),
    RABBITMQ_CONFIG_FILE: join(home, 'rabbitmq.conf'),
    RABBITMQ_ENABLED_PLUGINS_FILE: join(home, 'enabled_plugins'),
    RABBITMQ_MNESIA_BASE: join(home, 'data'),
    RABBITMQ_LOG_BASE: join(home, 'log'),
    RABBITMQ_LOGS: '-',
    RABBITMQ_PID_FILE: join(home, 'pid'),
    RABBITMQ_NODENAME: nodeName,
    RABBITMQ_NODE_IP_ADDRESS: '127.0.0.1',
    RABBITMQ_NODE_PORT: String(port),
    RABBITMQ_DIST_PORT: String(portOf(record, `${name}-node`)),
    RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: `-kernel inet_dist_use_interface {127,0,0,1} ${DEAD_LETTER_TIMEOUT}`,
    // Runs the server in place of its script, so that the pid and the signals are the server's own.
    RUNNING_UNDER_SYSTEMD: 'true',
  });
  const broker: ProcessSpec = {
    role: 'server',
    cwd: home,
    env,
    name,
    command: binary,
    args: [],
    logFile: logFileOf(folder, name),
    address: url,
    waitsFor: () => waitsForLogin(url),
    readyMs: STARTING_LIMIT_MS,
    graceMs: 30_000,
  };
  return {
    url,
    processes: [broker],
    prepare: async () => {
      mkdirSync(home, { recursive: true, mode: 0o700 });
      writePrivately(join(home, '.erlang.cookie'), record.erlangCookie);
      writeFileSync(join(home, 'rabbitmq-env.conf'), '');
      const listener = `127.0.0.1:${port}`;
      const management = managementPort === undefined ? undefined : `127.0.0.1:${managementPort}`;
      for (const [file, text] of settingsFiles({ folder: home, listener, management, record, vhosts, configuration }))
        writePrivately(join(home, file), text);
    },
  };
}

/**
 * RabbitMQ hands its folder to a shell, unquoted, to ask how full the disk is: it would wait for ever for the end of a
 * quote, or run what follows a semicolon.
 */
function refuseForShell(home: string): void {
  const [found] = /['"`\\;&|<>()#*?]/.exec(home) ?? [];
  if (found !== undefined)
    throw new Error(
      `RabbitMQ cannot run in "${home}" because of the ${found} in it: set WAYBELL_HOME to another folder`,
    );
}

/** The same node in a container, where it is alone: with the usual ports, and no port mapper but its own. */
export function rabbitmqContainer(setup: ContainerSetup): PrivateServer {
  const { folder, record, isThrowaway, vhosts, configuration, report } = setup;
  if (configuration !== undefined)
    throw new Error('this needs rabbitmq as a program, and it runs in a container here: install rabbitmq first');
  const home = join(folder.home, 'rabbitmq');
  const etc = join(home, 'etc');
  const port = portOf(record, 'rabbitmq');
  const url = `amqp://waybell:${record.brokerPassword}@127.0.0.1:${port}`;
  const isManaged = isThrowaway !== true;
  const container = inContainer(setup, {
    name: 'rabbitmq',
    ports: { 5672: port, ...(isManaged && { 15672: portOf(record, MANAGEMENT) }) },
    data: '/var/lib/rabbitmq',
    copied: { from: `${etc}/.`, to: '/etc/rabbitmq' },
    env: { RABBITMQ_SERVER_ADDITIONAL_ERL_ARGS: DEAD_LETTER_TIMEOUT, RUNNING_UNDER_SYSTEMD: 'true' },
    args: ['rabbitmq-server'],
  });
  return {
    url,
    processes: [
      { ...container, address: url, waitsFor: () => waitsForLogin(url), readyMs: STARTING_LIMIT_MS, graceMs: 30_000 },
    ],
    async prepare() {
      await fetchImage('rabbitmq', report);
      mkdirSync(home, { recursive: true, mode: 0o700 });
      // The server in the container runs as another user.
      mkdirSync(etc, { recursive: true, mode: 0o755 });
      for (const [name, text] of settingsFiles({
        folder: '/etc/rabbitmq',
        listener: '0.0.0.0:5672',
        management: isManaged ? '0.0.0.0:15672' : undefined,
        record,
        vhosts,
      }))
        writeFileSync(join(etc, name), text);
    },
  };
}

/** Tells the nodes of a stack, and the command line tools, the addresses of the others. */
export function portMapper({ folder, record, binary }: ServerSetup): ProcessSpec {
  const port = portOf(record, 'epmd');
  return {
    role: 'server',
    cwd: folder.home,
    env: serverEnvironment({ HOME: folder.home }),
    name: 'epmd',
    command: epmdOf(binary),
    args: ['-address', '127.0.0.1', '-port', String(port)],
    logFile: logFileOf(folder, 'epmd'),
    address: `127.0.0.1:${port}`,
    waitsFor: async () => ((await reaches({ host: '127.0.0.1', port })) ? undefined : 'its port'),
    readyMs: STARTING_LIMIT_MS,
    graceMs: 2_000,
  };
}

type RabbitmqSettings = Pick<ServerSetup, 'record' | 'vhosts' | 'configuration'> & {
  /** The folder in which the node finds them. */
  folder: string;
  /** Host and port. */
  listener: string;
  management: string | undefined;
};

/** Names and contents. */
function settingsFiles(settings: RabbitmqSettings): [string, string][] {
  const { folder, listener, management, record, vhosts, configuration = [] } = settings;
  const isManaged = management !== undefined;
  const defined = definitions(passwords(record), vhosts);
  const lines = [
    `listeners.tcp.1 = ${listener}`,
    `load_definitions = ${join(folder, 'definitions.json')}`,
    'loopback_users = none',
    // A client that stands still while it connects, on a machine that does, is let in all the same.
    'handshake_timeout = 60000',
    ...Object.entries(BROKER_SETTINGS).map(([name, value]) => `${name} = ${value}`),
    'vm_memory_high_watermark.relative = 0.4',
    'log.console = true',
    'log.console.level = info',
    'log.file = false',
    ...(isManaged ? managementSettings(management) : []),
    ...configuration,
    '',
  ];
  return [
    ['rabbitmq.conf', lines.join('\n')],
    ['enabled_plugins', isManaged ? '[rabbitmq_management].\n' : '[].\n'],
    ['definitions.json', JSON.stringify(isManaged ? withMonitor(defined, record) : defined)],
  ];
}

/** Without the figures that it would collect: Prometheus has those. */
const managementSettings = (listener: string): string[] => [
  `management.tcp.ip = ${listener.split(':')[0]}`,
  `management.tcp.port = ${listener.split(':')[1]}`,
  'management_agent.disable_metrics_collector = true',
];

const passwords =
  ({ brokerPassword }: StackRecord) =>
  (user: string): string =>
    user === ADMINISTRATOR ? brokerPassword : passwordOf(user, brokerPassword);

async function waitsForLogin(url: string): Promise<string | undefined> {
  if (!(await reaches(hostAndPort(url)))) return 'its port';
  try {
    return await onConnection({ url }, async () => undefined);
  } catch (error) {
    // Its own advice is to see the status, which this stands in.
    return `a login (${String(error instanceof Error ? error.cause : error)})`;
  }
}

function epmdOf(binary: string): string {
  const epmd = findInErlang('epmd', binary);
  if (epmd !== undefined) return epmd;
  throw new Error('found rabbitmq-server but not epmd, which comes with Erlang: put its folder on the PATH');
}
