import { startService } from '@waybell/line/service';
import { readConfig } from './config.ts';
import { openDeliverer } from './deliverer.ts';

await using service = await startService('deliverer', readConfig);
await using deliverer = openDeliverer(service);
await using _delivering = service.run(deliverer.step, deliverer.tools);
// Closed first: the step ends what it has begun, and nothing is to wait for its turn then.
using _turns = deliverer.turns;
await service.untilStopped();
