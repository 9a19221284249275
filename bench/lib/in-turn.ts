import { spread, type Spread } from './statistics.ts';

type Turns<C> = { contenders: readonly C[]; rounds: number; announce: (line: string) => void };

/** Lets each contender run once a round, so that what changes on the machine meanwhile touches all of them. */
export async function inTurn<C extends { name: string }, R>(
  { contenders, rounds, announce }: Turns<C>,
  run: (contender: C) => Promise<R>,
): Promise<Map<string, R[]>> {
  const results = new Map<string, R[]>(contenders.map(({ name }) => [name, []]));
  for (let round = 1; round <= rounds; round += 1) {
    for (const contender of contenders) {
      announce(`round ${round} of ${rounds}: ${contender.name}`);
      results.get(contender.name)?.push(await run(contender));
    }
  }
  return results;
}

/** A figure of one contender as a share of another's in the same round. */
export function ratios<R>(results: ResultsInTurn<R>, name: string, of: string, figure: (result: R) => number): Spread {
  return compared(results, [name, of], (one, other) => figure(one) / figure(other));
}

/** A figure of one contender minus another's, in the same round. */
export function differences<R>(
  results: ResultsInTurn<R>,
  name: string,
  of: string,
  figure: (result: R) => number,
): Spread {
  return compared(results, [name, of], (one, other) => figure(one) - figure(other));
}

type ResultsInTurn<R> = ReadonlyMap<string, readonly R[]>;

function compared<R>(
  results: ResultsInTurn<R>,
  [name, of]: [string, string],
  compare: (one: R, other: R) => number,
): Spread {
  const [ones, others] = [results.get(name) ?? [], results.get(of) ?? []];
  return spread(ones.map((one, round) => compare(one, others[round]!)));
}
