import { proveDaily } from './prove-daily.ts';
import { culpritsAmongOthers } from './rows/l13-culprits.ts';

proveDaily(culpritsAmongOthers);
