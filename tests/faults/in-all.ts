import { sumOf } from '../testing/balance.ts';
import type { Course } from './fault.ts';

/** Several rounds of a fault as one. */
export function inAll(rounds: readonly Course[]): Course {
  return {
    published: rounds.reduce((sum, { published }) => sum + published, 0),
    times: rounds.reduce((sum, { times = 1 }) => sum + times, 0),
    balance: sumOf(rounds.map(({ balance }) => balance)),
    ...longest('movingAgainSeconds', rounds),
    ...longest('atRestSeconds', rounds),
    problems: rounds.flatMap(({ problems = [] }) => problems),
  };
}

function longest(name: 'movingAgainSeconds' | 'atRestSeconds', rounds: readonly Course[]): Partial<Course> {
  const known = rounds.map((round) => round[name]).filter((seconds) => seconds !== undefined);
  return known.length === 0 ? {} : { [name]: Math.max(...known) };
}
