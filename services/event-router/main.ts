import { startService } from '@waybell/line/service';
import { growHeap } from '@waybell/runtime/process-parts';
import { readConfig } from './config.ts';
import { openEventRouter } from './event-router.ts';

growHeap();
await using service = await startService('event-router', readConfig);
const router = openEventRouter(service);
await using routing = service.run(router.routing);
await using _sorting = service.run(router.sorting);
await using _pausing = router.pauseWhenDeep(routing);
await service.untilStopped();
