import { addressesMissing, rejected, suspects } from './causes/messages.ts';
import { diskReplaced, majorityLost, nodeKilled, nodeReplaced, twoNodesKilled } from './causes/nodes.ts';
import { deliverersBehind, deliverersStopped } from './causes/processes.ts';
import { noWayOut, receiverDead, receiversFail } from './causes/receivers.ts';
import { brokerAlarm, logBehind, outcomesLost, postgresAway, queueStalled, redisAway } from './causes/servers.ts';
import { changedDelays, postgresFailover, restore, keyRotation } from './tasks.ts';
import type { Cause } from './cause.ts';
import type { ServersScene } from './servers-scene.ts';

/** In this order on one system: what leaves much behind comes last. */
export const causes: readonly Cause[] = [
  rejected,
  suspects,
  redisAway,
  brokerAlarm,
  queueStalled,
  addressesMissing,
  deliverersBehind,
  noWayOut,
  postgresAway,
  receiversFail,
  deliverersStopped,
  logBehind,
  receiverDead,
  outcomesLost,
];

/** What is done on purpose, on such a system too. */
export const tasks: readonly Cause[] = [changedDelays, restore, keyRotation];

/** On a system with three nodes of RabbitMQ and two Postgres. */
export const serversCauses: readonly Cause<ServersScene>[] = [
  nodeKilled,
  nodeReplaced,
  majorityLost,
  diskReplaced,
  twoNodesKilled,
  postgresFailover,
];
