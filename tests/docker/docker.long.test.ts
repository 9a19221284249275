import { composed } from './composed.ts';
import { image } from './image.ts';

image();
composed();
