import { acting } from './acting.ts';
import { clientPages } from './client-pages.ts';
import { credentials } from './credentials.ts';
import { operatorOverview } from './operator-overview.ts';
import { operatorPages } from './operator-pages.ts';
import { operatorSearch } from './operator-search.ts';
import { stops } from './stops.ts';
import { subscriptionFlows } from './subscription-flows.ts';
import { troubles } from './troubles.ts';

clientPages();
subscriptionFlows();
credentials();
operatorPages();
operatorOverview();
operatorSearch();
stops();
troubles();
acting();
