import { acting } from './acting.ts';
import { clientPages } from './client-pages.ts';
import { credentials } from './credentials.ts';
import { framed } from './framed.ts';
import { operatorPages } from './operator-pages.ts';
import { signingIn } from './signing-in.ts';
import { stops } from './stops.ts';
import { subscriptionFlows } from './subscription-flows.ts';
import { troubles } from './troubles.ts';

signingIn();
framed();
clientPages();
subscriptionFlows();
credentials();
operatorPages();
stops();
troubles();
acting();
