import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { chooseSources } from '@waybell/stack/choose-sources';
import type { ServerSetup } from '@waybell/stack/private-server';
import { portMapper, rabbitmqNode } from '@waybell/stack/rabbitmq';
import { rabbitmqctl, rabbitmqQueues } from '@waybell/stack/rabbitmqctl';
import { makeFolders, stackFolder } from '@waybell/stack/stack-folder';
import { claimPorts, readRecord } from '@waybell/stack/stack-record';
import { SupervisedProcess, type ProcessSpec } from '@waybell/stack/supervised-process';
import { thisMachine } from '@waybell/stack/this-machine';
import { nothingLeftBehind } from './left-behind.ts';
import { until } from '@waybell/runtime/testing/until';

const NAMES = ['rabbitmq', 'rabbitmq-2', 'rabbitmq-3'];
/** Settings of each node, beside those of every broker. */
export const CLUSTER_SETTINGS = [
  'cluster_partition_handling = pause_minority',
  'queue_leader_locator = balanced',
  'net_ticktime = 15',
];

/** Three nodes of RabbitMQ that are one cluster, with the settings of docs/operating/rabbitmq.md. */
export class RabbitmqCluster implements AsyncDisposable {
  readonly nodes: readonly SupervisedProcess[];
  readonly #mapper: SupervisedProcess;
  readonly #home: string;

  private constructor({ nodes, mapper, home }: { nodes: ProcessSpec[]; mapper: ProcessSpec; home: string }) {
    const supervised = (spec: ProcessSpec) =>
      new SupervisedProcess(spec, { restart: 'never', onEvent: () => undefined });
    this.nodes = nodes.map(supervised);
    this.#mapper = supervised(mapper);
    this.#home = home;
  }

  /** Resolves when every node is a member and takes work. */
  static async start(): Promise<RabbitmqCluster> {
    const home = await mkdtemp(join(tmpdir(), 'waybell-cluster-'));
    const setup = await setUp(home);
    const servers = NAMES.map((name) =>
      rabbitmqNode(setup, { name, nodeName: `${name}-${setup.folder.id}@localhost` }),
    );
    for (const server of servers) await server.prepare();
    const nodes = servers.flatMap(({ processes }) => processes);
    const cluster = new RabbitmqCluster({ nodes, mapper: portMapper(setup), home });
    try {
      await cluster.#start();
      return cluster;
    } catch (error) {
      await cluster[Symbol.asyncDispose]();
      throw error;
    }
  }

  /** The addresses of all nodes, as AMQP_URL takes them. */
  get url(): string {
    return this.nodes.map(({ spec }) => spec.address).join(',');
  }

  /** How many queues each node leads, in the order of the nodes. */
  async ledByEach(): Promise<number[]> {
    const queues = await queuesOf(this.#besides());
    return this.nodes.map((node) => queues.filter(({ leader }) => leader === nameOf(node)).length);
  }

  async leaderOfMost(): Promise<SupervisedProcess> {
    const led = await this.ledByEach();
    const node = this.nodes[led.indexOf(Math.max(...led))];
    if (node === undefined) throw new Error('this cluster has no node');
    return node;
  }

  /** Waits until each queue has a leader, and a member that runs on every node. */
  async untilComplete(): Promise<void> {
    await until('every queue has a leader and all of its members', async () => {
      const queues = await queuesOf(this.#besides());
      const lacking = queues.filter(({ leader, online }) => leader === '' || online.length < NAMES.length);
      if (lacking.length > 0) throw new Error(`these lack some: ${JSON.stringify(lacking)}`);
      return true;
    });
  }

  /** The node cannot be reached by the others for so long; its clients notice nothing. Resolves when it begins. */
  async cutOff(node: SupervisedProcess, forMs: number): Promise<void> {
    // Without the others' cookie there is no way back.
    const cut =
      `spawn(fun() -> C = erlang:get_cookie(), erlang:set_cookie(node(), cut_off), ` +
      `[erlang:disconnect_node(N) || N <- nodes()], timer:sleep(${forMs}), erlang:set_cookie(node(), C) end).`;
    await rabbitmqctl(node.spec, 'eval', cut);
  }

  /** Puts a node with an empty disk in the place of one that has ended: the commands of docs/operating/rabbitmq.md. */
  async replace(node: SupervisedProcess): Promise<void> {
    await this.replaceWithoutQueues(node);
    const other = this.#besides(node);
    await rabbitmqQueues(other.spec, 'grow', nameOf(node), 'all', '--queue-pattern', '^waybell[.]');
  }

  /** The same, without its members of the queues. */
  async replaceWithoutQueues(node: SupervisedProcess): Promise<void> {
    const other = this.#besides(node);
    await this.loseDisk(node);
    await rabbitmqctl(other.spec, 'forget_cluster_node', nameOf(node));
    await node.start();
    await joinCluster(node, other);
  }

  /** Takes away the data of a node that has ended. */
  async loseDisk({ spec }: SupervisedProcess): Promise<void> {
    await rm(spec.env['RABBITMQ_MNESIA_BASE'] ?? '', { recursive: true });
  }

  /** Has each node lead about as many queues as the others. */
  async rebalance(): Promise<void> {
    await rabbitmqQueues(this.#besides().spec, 'rebalance', 'quorum');
  }

  async [Symbol.asyncDispose](): Promise<void> {
    for (const { identity } of this.nodes) if (identity !== undefined) process.kill(identity.pid, 'SIGCONT');
    await Promise.all(this.nodes.map((node) => node.stop()));
    await this.#mapper.stop();
    await nothingLeftBehind([this.#home]);
    await rm(this.#home, { recursive: true, force: true });
  }

  async #start(): Promise<void> {
    await this.#mapper.start();
    await Promise.all(this.nodes.map((node) => node.start()));
    const [founder, ...others] = this.nodes;
    // Not by the list of nodes in their settings: on 4.0 the first is not ready without the others there.
    for (const node of others) if (founder !== undefined) await joinCluster(node, founder);
  }

  #besides(node?: SupervisedProcess): SupervisedProcess {
    const other = this.nodes.find((each) => each !== node && each.state === 'ready');
    if (other === undefined) throw new Error('no other node runs');
    return other;
  }
}

async function joinCluster(node: SupervisedProcess, member: SupervisedProcess): Promise<void> {
  await rabbitmqctl(node.spec, 'stop_app');
  await until(`${nameOf(node)} has joined`, async () => {
    try {
      await rabbitmqctl(node.spec, 'join_cluster', nameOf(member));
      return true;
    } catch (error) {
      // Else Mnesia is still busy with forgetting the one in whose place it comes (`combine_error`).
      if (isHalfJoined(error)) await rabbitmqctl(member.spec, 'forget_cluster_node', nameOf(node));
      throw error;
    }
  });
  await rabbitmqctl(node.spec, 'start_app');
}

/** Whether a join that failed left the other nodes with a member that does not know them. */
const isHalfJoined = (error: unknown): boolean => /thinks it's clustered/.test(String(error));

/** Name of the node within the cluster. */
export const nameOf = ({ spec }: SupervisedProcess): string => spec.env['RABBITMQ_NODENAME'] ?? '';

type QuorumQueue = { name: string; leader: string; online: string[] };

async function queuesOf({ spec }: SupervisedProcess): Promise<QuorumQueue[]> {
  const said = await rabbitmqctl(spec, 'list_queues', 'name', 'leader', 'online', '--formatter', 'json');
  return JSON.parse(said) as QuorumQueue[];
}

async function setUp(home: string): Promise<ServerSetup> {
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const { rabbitmq } = await chooseSources(['rabbitmq'], {}, thisMachine(report));
  if (rabbitmq?.from !== 'binary')
    throw new Error('a cluster for tests needs RabbitMQ as a program, not as a container');
  const folder = stackFolder(home);
  makeFolders(folder);
  const record = readRecord(folder);
  await claimPorts(folder, record, ['epmd', ...NAMES.flatMap((name) => [name, `${name}-node`])]);
  return { folder, record, binary: rabbitmq.path, configuration: CLUSTER_SETTINGS };
}
