import { execFileSync } from 'node:child_process';
import { expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';

/** Prints what a worker sees that runs two test files. */
const TWO_FILES = `
const { default: Runtime } = await import('./cli/test-run/native-runtime.js');
const paths = ['libs/runtime/testing/until.ts', 'tests/testing/patience.ts', 'tests/testing/left-behind.ts'];
const load = (runtime) => Promise.all(paths.map((path) => runtime.unstable_importModule(process.cwd() + '/' + path)));
const first = await load(new Runtime());
const runtime = new Runtime();
const next = await load(runtime);
runtime.setGlobalsForRuntime({ test: 'of the second' });
const { jest, test: known } = await import('@jest/globals');
console.log(JSON.stringify({ isOne: paths.map((_, place) => first[place] === next[place]), mocks: Object.keys(jest), known }));
`;

test('a worker runs a module of the product once, and one of tests for each test file', () => {
  const said = execFileSync(process.execPath, ['--input-type=module', '-e', TWO_FILES], {
    cwd: repository,
    encoding: 'utf8',
  });
  expect(JSON.parse(said)).toEqual({ isOne: [true, false, false], mocks: ['fn', 'spyOn'], known: 'of the second' });
});
