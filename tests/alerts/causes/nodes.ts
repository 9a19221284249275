import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { rabbitmqQueues } from '@waybell/stack/rabbitmqctl';
import { nameOf } from '../../testing/rabbitmq-cluster.ts';
import type { Cause } from '../cause.ts';
import { flow } from '../load.ts';
import { showMetrics } from '../scene.ts';
import type { ServersScene } from '../servers-scene.ts';

/** The second and third: the first is the one that tools speak to. */
function others({ cluster }: ServersScene): [SupervisedProcess, SupervisedProcess] {
  const [, second, third] = cluster.nodes;
  if (second === undefined || third === undefined) throw new Error('there are no three nodes');
  return [second, third];
}

/** Has those that run show what they showed before they ended, or paused. */
const showAgain = async ({ ports }: ServersScene, ...nodes: SupervisedProcess[]) => {
  for (const node of nodes) await showMetrics(node.spec, ports.get(node));
};

export const nodeKilled: Cause<ServersScene> = {
  name: 'one node of three is killed',
  alerts: ['WaybellRedundancyLost/node', 'WaybellRedundancyLost/members'],
  pages: ['WaybellRedundancyLost/node'],
  async begin(scene) {
    const load = await flow(scene);
    const [second] = others(scene);
    await second.kill();
    return async () => {
      await second.start();
      await showAgain(scene, second);
      await load.stop();
    };
  },
};

export const twoNodesKilled: Cause<ServersScene> = {
  name: 'two nodes of three are killed, and the third pauses',
  alerts: ['WaybellQueueUnavailable/no_node'],
  pages: [],
  async begin(scene) {
    await Promise.all(others(scene).map((node) => node.kill()));
    return async () => {
      await Promise.all(others(scene).map((node) => node.start()));
      await scene.cluster.untilComplete();
      await showAgain(scene, ...scene.cluster.nodes);
    };
  },
};

export const nodeReplaced: Cause<ServersScene> = {
  name: 'a node is replaced, and the queues are not grown onto it',
  alerts: ['WaybellRedundancyLost/members'],
  async begin(scene) {
    const [second] = others(scene);
    await second.kill();
    await scene.cluster.replaceWithoutQueues(second);
    await showAgain(scene, second);
    return async () => undefined;
  },
};

export const majorityLost: Cause<ServersScene> = {
  name: 'queues have no member on one node of three, and another is killed',
  alerts: ['WaybellQueueUnavailable/no_majority'],
  async begin(scene) {
    const [second, third] = others(scene);
    const load = await flow(scene);
    // As after a replacement whose last step was left out.
    await rabbitmqQueues(scene.node, 'shrink', nameOf(second));
    await third.kill();
    return async () => {
      await third.start();
      await showAgain(scene, third);
      await rabbitmqQueues(scene.node, 'grow', nameOf(second), 'all', '--queue-pattern', '^waybell[.]');
      await load.stop();
    };
  },
};

export const diskReplaced: Cause<ServersScene> = {
  name: 'a node comes back with an empty disk',
  alerts: ['WaybellRedundancyLost/node'],
  pages: ['disk-replaced'],
  inWords: {
    'rabbitmqctl -q -n rabbitmq@b stop_app': (scene) => others(scene)[0].start(),
    "rabbitmq-queues -q grow rabbitmq@b all --queue-pattern '^waybell[.]'": (scene) =>
      showAgain(scene, others(scene)[0]),
  },
  async begin(scene) {
    const [second] = others(scene);
    await second.kill();
    await scene.cluster.loseDisk(second);
    return async () => undefined;
  },
};
