import { accessibility } from './accessibility.ts';
import { deliveries } from './deliveries.ts';
import { docs } from './docs.ts';
import { everyPage } from './every-page.ts';
import { hostileContent } from './hostile-content.ts';
import { isolation } from './isolation.ts';
import { keyboard } from './keyboard.ts';
import { liveFeed } from './live-feed.ts';
import { screenshots } from './screenshots.ts';
import { states } from './states.ts';
import { tenThousand } from './ten-thousand.ts';

// First, while nothing else has happened.
screenshots();
accessibility();
deliveries();
docs();
everyPage();
keyboard();
hostileContent();
isolation();
states();
tenThousand();
liveFeed();
