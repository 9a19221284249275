import { startService } from '@waybell/line/service';
import { growHeap } from '@waybell/runtime/process-parts';
import { readConfig } from './config.ts';
import { openDeliveryLog } from './delivery-log.ts';

growHeap();
await using service = await startService('delivery-log', readConfig);
const deliveryLog = openDeliveryLog(service);
await using _recording = service.run(deliveryLog.step);
await using _sending = deliveryLog.sendByHand();
await using _keeping = deliveryLog.keepPartitions();
await service.untilStopped();
