/** Order of test files: those that wait for minutes begin first, so that the others run beside them. */
export default class SlowestFirst {
  sort(tests) {
    return tests.toSorted((left, right) => rank(left) - rank(right) || left.path.localeCompare(right.path));
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

const rank = ({ path }) => {
  if (path.endsWith('.slow.test.ts')) return 0;
  return path.includes('/tests/') ? 1 : 2;
};
