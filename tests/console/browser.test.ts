import { acting } from './acting.ts';
import { clientPages } from './client-pages.ts';
import { credentials } from './credentials.ts';
import { operatorPages } from './operator-pages.ts';
import { problems } from './problems.ts';
import { stops } from './stops.ts';
import { subscriptionFlows } from './subscription-flows.ts';
import { troubles } from './troubles.ts';

clientPages();
subscriptionFlows();
credentials();
operatorPages();
problems();
stops();
troubles();
acting();
