import { byHand } from './by-hand.ts';
import { accounts } from './commands/accounts.ts';
import { publish } from './commands/publish.ts';
import { rejected } from './commands/rejected.ts';
import { secrets } from './commands/secrets.ts';
import { services } from './commands/services.ts';
import { metrics } from './metrics.ts';
import { support } from './support.ts';
import { why } from './why.ts';

support();
why();
byHand();
metrics();
services();
accounts();
secrets();
publish();
rejected();
