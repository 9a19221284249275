/** The exports of `@jest/globals` in tests: see native-runtime.js. */
export const { afterAll, afterEach, beforeAll, beforeEach, describe, expect, jest, test } =
  globalThis[Symbol.for('waybell.test-globals')];
