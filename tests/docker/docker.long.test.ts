import { composed } from './composed.ts';
import { image } from './image.ts';
import { workflows } from './workflows.ts';

image();
composed();
workflows();
