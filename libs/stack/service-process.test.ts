import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MEMORY } from './service-process.ts';
import { repository } from './stack-folder.ts';

test.each(['deploy/Dockerfile', 'docs/operating/sizing.md'])(
  '%s gives services the memory that the local stack gives them',
  (file) => {
    expect(readFileSync(join(repository, file), 'utf8')).toContain(MEMORY.join(' '));
  },
);
