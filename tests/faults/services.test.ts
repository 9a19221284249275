import { proveDaily } from './prove-daily.ts';
import { deliveryLog } from './rows/d01-delivery-log.ts';
import { servicesKilled } from './rows/l01-services-killed.ts';
import { servicesStopped } from './rows/l02-services-stopped.ts';
import { malformed } from './rows/l08-malformed.ts';

// All on one stage: to start it costs as much as some of them.
proveDaily([...servicesKilled, ...deliveryLog, ...malformed, ...servicesStopped]);
