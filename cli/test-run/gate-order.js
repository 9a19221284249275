/**
 * Order of test files. Those without servers begin, while the servers start; then whole systems, which take longest; then
 * those that take turns with the servers to break; small ones fill the gaps at the end.
 */
export default class GateOrder {
  sort(tests) {
    return tests.toSorted((left, right) => rank(left) - rank(right) || left.path.localeCompare(right.path));
  }

  allFailedTests(tests) {
    return tests;
  }

  cacheResults() {}
}

const servers = new Set((process.env.TEST_FILES_WITH_SERVERS ?? '').split(','));

const rank = ({ path }) => {
  if (![...servers].some((file) => file !== '' && path.endsWith(`/${file}`))) return 0;
  if (path.includes('/tests/')) return 1;
  return path.includes('/libs/line/') ? 2 : 3;
};
