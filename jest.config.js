/** Unit tests lie beside the source; `./waybell test` adds the suites that need servers. */
export default {
  runtime: './cli/test-run/native-runtime.js',
  setupFiles: ['./cli/test-run/fixed-seed.js'],
  testEnvironment: './cli/test-run/test-environment.js',
  // There to end a test that will never pass: a slow machine must not fail one.
  testTimeout: 900_000,
  transform: {},
  injectGlobals: false,
  testPathIgnorePatterns: ['/node_modules/', '/.waybell/'],
  modulePathIgnorePatterns: ['/.waybell/'],
};
