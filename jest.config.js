/** Unit tests lie beside the source; `./waybell test` adds the suites that need servers. */
const transform = {
  '^.+\\.ts$': [
    '@swc/jest',
    {
      jsc: {
        parser: { syntax: 'typescript', explicitResourceManagement: true },
        target: 'es2024',
        experimental: { keepImportAttributes: true },
      },
      module: { type: 'es6' },
      sourceMaps: 'inline',
    },
  ],
};
export default {
  setupFiles: ['./cli/test-run/fixed-seed.js'],
  testEnvironment: './cli/test-run/test-environment.js',
  // There to end a test that will never pass: a slow machine must not fail one.
  testTimeout: 900_000,
  extensionsToTreatAsEsm: ['.ts'],
  transform,
  testPathIgnorePatterns: ['/node_modules/', '/.waybell/'],
  modulePathIgnorePatterns: ['/.waybell/'],
};
