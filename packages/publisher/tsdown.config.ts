import { execFileSync } from 'node:child_process';
import { writeFileSync } from 'node:fs';
import { defineConfig } from 'tsdown';
import { outboxMigration } from './outbox-migration.ts';

/** Code of this repository goes into the package; packages that are published separately stay dependencies. */
export default defineConfig({
  entry: ['index.ts'],
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  dts: { generator: 'oxc' },
  deps: { alwaysBundle: [/^@waybell\//] },
  hooks: {
    // Types of events, which git does not keep.
    'build:prepare': () => void execFileSync(process.execPath, ['../../cli/main.ts', 'docs', '--code']),
    // For those who keep their migrations as SQL.
    'build:done': () => writeFileSync('dist/outbox.sql', outboxMigration.trimStart()),
  },
});
