import { acting } from './acting.ts';
import { operatorOverview } from './operator-overview.ts';
import { operatorPages } from './operator-pages.ts';
import { operatorSearch } from './operator-search.ts';
import { stops } from './stops.ts';

operatorPages();
operatorOverview();
operatorSearch();
stops();
acting();
