import { startService } from '@waybell/line/service';
import { readConfig } from './config.ts';
import { openDeliverer } from './deliverer.ts';

await using service = await startService('deliverer', readConfig);
await using deliverer = openDeliverer(service);
await using _delivering = service.run(deliverer.step, deliverer.tools);
// Disposed of first: the step then finishes what it has begun, and no delivery may wait in hand.
using _waits = deliverer.waits;
await service.untilStopped();
