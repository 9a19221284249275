import { execFileSync } from 'node:child_process';
import { defineConfig } from 'tsdown';

/** Code of this repository goes into the package; what is published on its own stays a dependency. */
export default defineConfig({
  entry: ['index.ts', 'postgres.ts', 'redis.ts', 'testing.ts'],
  format: ['esm', 'cjs'],
  target: 'node20',
  platform: 'node',
  dts: { generator: 'oxc' },
  deps: { alwaysBundle: [/^@waybell\//] },
  hooks: {
    // Types of notifications, which git does not keep.
    'build:prepare': () => void execFileSync(process.execPath, ['../../cli/main.ts', 'docs', '--code']),
  },
});
