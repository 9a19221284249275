import type { Fault } from './fault.ts';
import { deliveryLog } from './rows/d01-delivery-log.ts';
import { positions } from './rows/g01-positions.ts';
import { servicesKilled } from './rows/l01-services-killed.ts';
import { servicesStopped } from './rows/l02-services-stopped.ts';
import { brokerAway } from './rows/l03-broker-away.ts';
import { cannotPut } from './rows/l04-cannot-put.ts';
import { postgresAway } from './rows/l04-postgres-away.ts';
import { postgresFailover } from './rows/l04-postgres-failover.ts';
import { redisAway } from './rows/l05-redis-away.ts';
import { redisFailover } from './rows/l05-redis-failover.ts';
import { alarms } from './rows/l06-alarms.ts';
import { nodesAway } from './rows/l07-nodes-away.ts';
import { malformed } from './rows/l08-malformed.ts';
import { hostileReceiversAmongOthers } from './rows/l09-hostile-receivers.ts';
import { backlog } from './rows/l10-backlog.ts';
import { retriesWaiting } from './rows/l11-retries-waiting.ts';
import { brokerLink } from './rows/l12-broker-link.ts';
import { culpritsAmongOthers } from './rows/l13-culprits.ts';
import { topologyBroken } from './rows/l14-topology.ts';
import { deactivation } from './rows/l15-deactivation.ts';
import { soak } from './rows/l16-soak.ts';
import { clocks } from './rows/l17-clocks.ts';
import { waiting } from './rows/l18-waiting.ts';
import { alarmRecords } from './rows/l19-alarm-records.ts';
import { missingQueue } from './rows/l19-missing-queue.ts';
import { stalledQueue } from './rows/l19-stalled-queue.ts';
import { replicas } from './rows/l20-replicas.ts';
import { stops } from './rows/l19-stops.ts';
import { linkCut } from './rows/l19-link-cut.ts';
import { deliveryBatches } from './rows/l21-delivery-batches.ts';
import { large } from './rows/l22-large.ts';
import { overlaps } from './rows/l24-overlaps.ts';
import { egress } from './rows/l23-egress.ts';
import { missingKey } from './rows/l25-missing-key.ts';
import { restored } from './rows/l25-restored.ts';
import { versions } from './rows/l26-versions.ts';

/** Every fault of the bench, in the order of its table. */
export const allFaults: readonly Fault[] = [
  ...servicesKilled,
  ...servicesStopped,
  ...brokerAway,
  ...postgresAway,
  ...postgresFailover,
  ...cannotPut,
  ...redisAway,
  ...redisFailover,
  ...alarms,
  ...nodesAway,
  ...malformed,
  ...hostileReceiversAmongOthers,
  ...backlog,
  ...retriesWaiting,
  ...brokerLink,
  ...culpritsAmongOthers,
  ...topologyBroken,
  ...deactivation,
  ...soak,
  ...clocks,
  ...waiting,
  ...stalledQueue,
  ...missingQueue,
  ...alarmRecords,
  ...replicas,
  ...stops,
  ...linkCut,
  ...deliveryBatches,
  ...large,
  ...overlaps,
  ...egress,
  ...restored,
  ...missingKey,
  ...versions,
  ...positions,
  ...deliveryLog,
];
