import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import type { Mutant } from './mutant.ts';
import { runSuites } from './run-suites.ts';
import type { TestPostgres } from './test-postgres.ts';

/** A copy of the checkout that may be broken, and what its suites need. */
export type Workplace = { checkout: string; env: NodeJS.ProcessEnv; postgres: TestPostgres | undefined };

export type Verdict = { isSeen: boolean; how: string };

/** Breaks the copy, runs the suites that should see it, and mends the copy. */
export async function tryOut(mutant: Mutant, { checkout, env, postgres }: Workplace): Promise<Verdict> {
  const { file, find, replace, seenBy } = mutant;
  const path = join(checkout, file);
  const source = await readFile(path, 'utf8');
  const places = source.split(find).length - 1;
  if (places !== 1) return { isSeen: false, how: `no longer applies: "${find}" is ${places} times in ${file}` };
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
  try {
    const own = file.includes('/migrations/') ? await postgres?.environmentOf(checkout) : undefined;
    const { failed, unloaded } = await runSuites({ checkout, suites: seenBy, env: own ?? env });
    const [first] = failed;
    if (first !== undefined) return { isSeen: true, how: `seen by ${first.suite}: ${first.test}` };
    return {
      isSeen: false,
      how: unloaded.length > 0 ? `did not load: ${unloaded.join()}` : `passed: ${seenBy.join()}`,
    };
  } finally {
    await writeFile(path, source);
  }
}

/** Throws where a suite fails though nothing is broken. */
export async function expectUnbroken(mutants: readonly Mutant[], workplaces: readonly Workplace[]): Promise<void> {
  const suites = [...new Set(mutants.flatMap(({ seenBy }) => seenBy))];
  const expectAll = async ({ checkout, env }: Workplace, place: number) => {
    const share = suites.filter((_, index) => index % workplaces.length === place);
    if (share.length === 0) return;
    const { failed, unloaded, said } = await runSuites({ checkout, suites: share, env });
    if (failed.length + unloaded.length > 0) throw new Error(`fails though nothing is broken:\n${said}`);
  };
  await Promise.all(workplaces.map(expectAll));
}
