// Jest, which loads this first, ends with who runs it, and its workers with it: a run that is killed starts nothing more.
const { ppid } = process;
setInterval(() => process.ppid !== ppid && process.exit(1), 500).unref();

/** Jest begins test files in the order in which they are named in TEST_ORDER: see in-order.ts. */
export default class GateOrder {
  #order = (process.env.TEST_ORDER ?? '').split(',');

  sort(tests) {
    const placeOf = ({ path }) => this.#order.findIndex((file) => path.endsWith(`/${file}`));
    return tests.toSorted((left, right) => placeOf(left) - placeOf(right));
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}
