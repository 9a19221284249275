import { createRequire, registerHooks } from 'node:module';
import { pathToFileURL } from 'node:url';
import { jestExpect } from '@jest/expect';
import { ModuleMocker } from 'jest-mock';

const require = createRequire(import.meta.url);
const root = new URL('../../', import.meta.url).href;
const GLOBALS = new URL('test-globals.js', import.meta.url).href;
/** Modules that a test file has to itself: they begin what ends with it. Those of `testing/` folders, but one, begin nothing by themselves. */
const OF_TESTS =
  /^(?!.*node_modules\/)(?:tests\/|.*\.test\.ts$|libs\/runtime\/testing\/shared\.ts$|cli\/test-run\/test-globals\.js$)/;
const isOfTests = (url) => url.startsWith(root) && OF_TESTS.test(url.slice(root.length));

/** Number of the test file that runs. */
let file = 0;

registerHooks({
  resolve(specifier, context, next) {
    const found =
      specifier === '@jest/globals' ? { url: GLOBALS, format: 'module', shortCircuit: true } : next(specifier, context);
    return isOfTests(found.url) ? { ...found, url: `${found.url}?file=${file}` } : found;
  },
});

/**
 * Jest's runtime on Node's own loader: tests run the code as it ships, its types stripped by Node. Jest's own runtime makes a
 * world of its own for each test file, for which every module is read, compiled and run anew; here a worker runs a module of the
 * product or of a package once. So a test restores what it changes in such a module; what it changes of the environment's
 * variables test-environment.js restores.
 */
export default class NativeRuntime {
  constructor() {
    file += 1;
    // Handlers that jest registers for a file stay with the file.
    delete globalThis[Symbol.for('EVENT_HANDLERS')];
  }

  /** A module of jest's own; what it knows of a test file is new for each. */
  requireInternalModule(path) {
    delete require.cache[path];
    return require(path);
  }

  requireModule(path) {
    return require(path);
  }

  unstable_shouldLoadAsEsm() {
    return true;
  }

  unstable_importModule(path) {
    return import(pathToFileURL(path).href);
  }

  /** They reach the test file by test-globals.js. */
  setGlobalsForRuntime(globals) {
    const mocker = new ModuleMocker(globalThis);
    const jest = { fn: mocker.fn.bind(mocker), spyOn: mocker.spyOn.bind(mocker) };
    globalThis[Symbol.for('waybell.test-globals')] = { ...globals, expect: jestExpect, jest };
  }

  getSourceMaps() {
    return null;
  }

  getAllCoverageInfoCopy() {}

  enterTestCode() {}

  leaveTestCode() {}

  teardown() {}
}
