import { composed } from './composed.ts';
import { image } from './image.ts';
import { onlyDocker } from './only-docker.ts';
import { workflows } from './workflows.ts';

image();
composed();
onlyDocker();
workflows();
