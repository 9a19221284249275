import { acting } from './acting.ts';
import { clientPages } from './client-pages.ts';
import { clientTasks } from './client-tasks.ts';
import { credentials } from './credentials.ts';
import { operatorPages } from './operator-pages.ts';
import { overview } from './overview.ts';
import { stops } from './stops.ts';
import { subscriptionFlows } from './subscription-flows.ts';
import { troubles } from './troubles.ts';

clientPages();
overview();
clientTasks();
subscriptionFlows();
credentials();
operatorPages();
stops();
troubles();
acting();
