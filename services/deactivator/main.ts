import { startService } from '@waybell/line/service';
import { readConfig } from './config.ts';
import { openDeactivator } from './deactivator.ts';

await using service = await startService('deactivator', readConfig);
const deactivator = openDeactivator(service);
await using _noting = service.run(deactivator.step);
await using _announcing = deactivator.announce();
await using _sweeping = deactivator.sweep();
await service.untilStopped();
