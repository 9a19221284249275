import { composed } from './composed.ts';
import { image } from './image.ts';
import { onlyDocker } from './only-docker.ts';

image();
composed();
onlyDocker();
