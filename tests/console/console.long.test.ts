import { everyPage } from './every-page.ts';
import { hostileContent } from './hostile-content.ts';
import { isolation } from './isolation.ts';
import { screenshots } from './screenshots.ts';

screenshots();
everyPage();
hostileContent();
isolation();
