import { accessibility } from './accessibility.ts';
import { clientPages } from './client-pages.ts';
import { docs } from './docs.ts';
import { operatorPages } from './operator-pages.ts';
import { standInUse } from './stand-in-use.ts';
import { troubles } from './troubles.ts';

clientPages();
operatorPages();
docs();
troubles();
accessibility();
standInUse();
