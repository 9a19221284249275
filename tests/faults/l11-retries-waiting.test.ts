import { proveDaily } from './prove-daily.ts';
import { retriesWaiting } from './rows/l11-retries-waiting.ts';

proveDaily(retriesWaiting);
