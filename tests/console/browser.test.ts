import { accessibility } from './accessibility.ts';
import { docs } from './docs.ts';
import { standInUse } from './stand-in-use.ts';
import { troubles } from './troubles.ts';

docs();
troubles();
accessibility();
standInUse();
