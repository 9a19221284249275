import { proveDaily } from './prove-daily.ts';
import { positions } from './rows/g01-positions.ts';

proveDaily(positions);
