import { clientPages } from './client-pages.ts';
import { operatorPages } from './operator-pages.ts';
import { troubles } from './troubles.ts';

clientPages();
operatorPages();
troubles();
