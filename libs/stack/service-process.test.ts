import { readFileSync } from 'node:fs';
import { join } from 'node:path';
import { expect, test } from '@jest/globals';
import { MALLOC, MEMORY } from './service-process.ts';
import { repository } from './stack-folder.ts';

test.each(['deploy/Dockerfile', 'docs/operating/sizing.md'])(
  '%s gives services the memory that the local stack gives them',
  (file) => {
    const text = readFileSync(join(repository, file), 'utf8');
    expect(text).toContain(MEMORY.join(' '));
    for (const [name, value] of Object.entries(MALLOC)) expect(text).toContain(`${name}=${value}`);
  },
);
