import { TestEnvironment as NodeEnvironment } from 'jest-environment-node';

// Unasked, a signal ends a process without telling those who wait for its exit, and a worker outlives jest. Listening for
// `disconnect` would keep it from ever ending by itself.
for (const end of ['SIGINT', 'SIGTERM', 'SIGHUP']) process.once(end, () => process.exit(1));
const { ppid } = process;
setInterval(() => process.ppid !== ppid && process.exit(1), 500).unref();

/**
 * Jest gives tests a `process` of its own making, which hears of no exit. Here its exit is the end of the test file or
 * that of the real process, whichever is first: what a test has started ends with it, even if the run is interrupted.
 */
export default class TestEnvironment extends NodeEnvironment {
  #atExit = new Set();

  async setup() {
    await super.setup();
    const inner = this.global.process;
    const once = inner.once.bind(inner);
    inner.once = (event, listener) => {
      if (event !== 'exit') return once(event, listener);
      this.#atExit.add(listener);
      process.once(event, listener);
      return inner;
    };
  }

  async teardown() {
    for (const listener of this.#atExit) {
      process.off('exit', listener);
      listener();
    }
    await super.teardown();
  }
}
