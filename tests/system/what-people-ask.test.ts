import { byHand } from './by-hand.ts';
import { commands } from './commands.ts';
import { metrics } from './metrics.ts';
import { support } from './support.ts';
import { why } from './why.ts';

support();
why();
byHand();
metrics();
commands();
