import { acting } from './acting.ts';
import { clientPages } from './client-pages.ts';
import { credentials } from './credentials.ts';
import { deliveries } from './deliveries.ts';
import { operatorPages } from './operator-pages.ts';
import { stops } from './stops.ts';
import { subscriptionFlows } from './subscription-flows.ts';
import { troubles } from './troubles.ts';

clientPages();
subscriptionFlows();
credentials();
deliveries();
operatorPages();
stops();
troubles();
acting();
