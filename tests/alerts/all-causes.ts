import { addressesMissing, rejected, suspects } from './causes/messages.ts';
import { deliverersBehind, deliverersStopped, eventLoopBusy } from './causes/processes.ts';
import { noWayOut, receiverDead, receiversFail } from './causes/receivers.ts';
import { brokerAlarm, logBehind, postgresAway, queueStalled, redisAway } from './causes/servers.ts';
import type { Cause } from './cause.ts';

/** In this order on one system: what leaves much behind comes last. */
export const causes: readonly Cause[] = [
  rejected,
  suspects,
  redisAway,
  brokerAlarm,
  queueStalled,
  eventLoopBusy,
  addressesMissing,
  deliverersBehind,
  noWayOut,
  postgresAway,
  receiversFail,
  deliverersStopped,
  logBehind,
  receiverDead,
];
