import { startService } from '@waybell/line/service';
import { readConfig } from './config.ts';
import { openLocationTracker } from './location-tracker.ts';

await using service = await startService('location-tracker', readConfig);
const tracker = openLocationTracker(service);
await using tracking = service.run(tracker.step);
await using announcing = service.publishClaimed('silent-vehicles', tracker.silentVehicles);
await using _sweeping = tracker.sweepBeside(tracking, announcing);
await service.untilStopped();
