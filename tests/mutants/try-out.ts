import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { lendMigrated } from './lend-migrated.ts';
import { breakWith, type Mutant } from './read-mutants.ts';
import { runSuites } from './run-suites.ts';

/** Sources of the tables: those of the run were made before the mutant. */
const MAKES_TABLES = /\/migrations\/|\.sql$|^libs\/delivery-log\/(?:schema|tables|columns)\.ts$/;

export type Verdict = { isSeen: boolean; how: string };

/** Breaks the copy, runs the suites that should see it, and restores the copy. */
export async function tryOut(mutant: Mutant, checkout: string): Promise<Verdict> {
  const { file, seenBy } = mutant;
  const path = join(checkout, file);
  const source = await readFile(path, 'utf8');
  const broken = breakWith(mutant, source);
  if (broken === undefined) return { isSeen: false, how: `no longer applies: is not there exactly once in ${file}` };
  await writeFile(path, broken);
  await using stack = new AsyncDisposableStack();
  stack.defer(() => writeFile(path, source));
  const migrated = MAKES_TABLES.test(file) ? stack.use(await lendMigrated(checkout)) : undefined;
  const { failed, unloaded } = await runSuites({ checkout, suites: seenBy, env: migrated?.environment });
  const [first] = failed;
  if (first !== undefined) return { isSeen: true, how: `seen by ${first.suite}: ${first.test}` };
  return {
    isSeen: false,
    how: unloaded.length > 0 ? `did not load: ${unloaded.join()}` : `passed: ${seenBy.join()}`,
  };
}

/** Throws where a suite fails though nothing is broken. */
export async function expectUnbroken(mutants: readonly Mutant[], checkouts: readonly string[]): Promise<void> {
  const suites = [...new Set(mutants.flatMap(({ seenBy }) => seenBy))];
  const expectAll = async (checkout: string, place: number) => {
    const share = suites.filter((_, index) => index % checkouts.length === place);
    if (share.length === 0) return;
    const { failed, unloaded, said } = await runSuites({ checkout, suites: share });
    if (failed.length + unloaded.length > 0) throw new Error(`fails though nothing is broken:\n${said}`);
  };
  await Promise.all(checkouts.map(expectAll));
}
