import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { PostgresPair } from '../testing/postgres-pair.ts';
import { nameOf, RabbitmqCluster } from '../testing/rabbitmq-cluster.ts';
import { TestStack } from '../testing/test-stack.ts';
import type { Instead } from './alert-rules.ts';
import { observe, showMetrics, type Scene } from './scene.ts';

/** A whole system on three nodes of RabbitMQ and two Postgres; pages call the nodes rabbitmq@a, b and c. */
export type ServersScene = Scene & {
  cluster: RabbitmqCluster;
  pair: PostgresPair;
  /** Where each node shows its metrics. */
  ports: ReadonlyMap<SupervisedProcess, number>;
};

/** Its alerts have these limits. `ended` takes it down. */
export async function setServersScene(ended: AsyncDisposableStack, instead: Instead): Promise<ServersScene> {
  const cluster = ended.use(await RabbitmqCluster.start());
  const pair = ended.use(await PostgresPair.start());
  const stack = ended.use(await TestStack.startAlone({ AMQP_URL: cluster.url, DATABASE_URL: pair.url }));
  const ports = new Map<SupervisedProcess, number>();
  for (const node of cluster.nodes) ports.set(node, await showMetrics(node.spec));
  const [first] = cluster.nodes;
  if (first === undefined) throw new Error('this cluster has no node');
  const names = Object.fromEntries(cluster.nodes.map((node, place) => [`rabbitmq@${'abc'[place]}`, nameOf(node)]));
  const observed = await observe(ended, { stack, instead, ports: [...ports.values()] });
  return { ...observed, cluster, pair, ports, names, node: first.spec, postgres: pair.primary.spec };
}
