import { writeSync } from 'node:fs';
import { relative } from 'node:path';

/** The descriptor that run-jest.ts reads. */
const DESCRIPTOR = 3;

/** A reporter of jest: a line of JSON for each test file that begins or ends, in the form of run-jest.ts's FileEvent. */
export default class TellFiles {
  #root;

  constructor({ rootDir }) {
    this.#root = rootDir;
  }

  onTestFileStart({ path }) {
    this.#tell({ kind: 'begun', path });
  }

  onTestFileResult({ path }, { numPassingTests: passed, numFailingTests: failed, testExecError, failureMessage }) {
    this.#tell({
      kind: 'ended',
      path,
      passed,
      failed: failed + (testExecError ? 1 : 0),
      failure: failureMessage ?? '',
    });
  }

  #tell({ path, ...event }) {
    writeSync(DESCRIPTOR, `${JSON.stringify({ ...event, path: relative(this.#root, path) })}\n`);
  }
}
