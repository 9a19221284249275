import { execFile } from 'node:child_process';
import { readFile, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { lendMigrated } from './lend-migrated.ts';
import { breakWith, type Mutant } from './read-mutants.ts';
import { runSuites } from './run-suites.ts';

/** Sources of the tables: those of the run were made before the mutant. */
const MAKES_TABLES = /\/migrations\/|\.sql$|^libs\/delivery-log\/(?:schema|tables|columns)\.ts$/;

/** `by` is the suite that failed, or did not even load. */
export type Verdict = { isSeen: boolean; how: string; by?: string | undefined };

/** Breaks the copy, runs the suites that should see it, and restores the copy. */
export async function tryOut(mutant: Mutant, checkout: string, env: NodeJS.ProcessEnv = {}): Promise<Verdict> {
  const { file, seenBy } = mutant;
  const path = join(checkout, file);
  const source = await readFile(path, 'utf8');
  const broken = breakWith(mutant, source);
  if (broken === undefined) return { isSeen: false, how: `no longer applies: is not there exactly once in ${file}` };
  const isPage = file.startsWith('apps/console/');
  await writeFile(path, broken);
  await using stack = new AsyncDisposableStack();
  stack.defer(async () => {
    await writeFile(path, source);
    if (isPage) await buildConsoleOf(checkout);
  });
  const lender = env['TEST_SERVERS'];
  const migrated =
    lender !== undefined && MAKES_TABLES.test(file) ? stack.use(await lendMigrated(checkout, lender)) : undefined;
  if (isPage) await buildConsoleOf(checkout);
  const { failed, unloaded } = await runSuites({ checkout, suites: seenBy, env: { ...env, ...migrated?.environment } });
  const [first] = failed;
  const [notLoaded] = unloaded;
  if (first !== undefined)
    return { isSeen: true, how: `seen by ${first.suite}: ${first.test}\n          ${first.why}`, by: first.suite };
  if (notLoaded !== undefined) return { isSeen: false, how: `did not load: ${unloaded.join()}`, by: notLoaded };
  return { isSeen: false, how: `passed: ${seenBy.join()}` };
}

/** Builds its pages, where they are older than their sources. */
async function buildConsoleOf(checkout: string): Promise<void> {
  const build =
    "const { buildConsole } = await import('./libs/stack/build-console.ts'); await buildConsole(console.error)";
  await promisify(execFile)(process.execPath, ['--input-type=module', '--eval', build], { cwd: checkout });
}

/** Throws where a suite fails though nothing is broken. */
export async function expectUnbroken(
  mutants: readonly Mutant[],
  checkouts: readonly string[],
  env: NodeJS.ProcessEnv,
): Promise<void> {
  const suites = [...new Set(mutants.flatMap(({ seenBy }) => seenBy))];
  const expectAll = async (checkout: string, place: number) => {
    const share = suites.filter((_, index) => index % checkouts.length === place);
    if (share.length === 0) return;
    const { failed, unloaded, said } = await runSuites({ checkout, suites: share, env });
    if (failed.length + unloaded.length > 0) throw new Error(`fails though nothing is broken:\n${said}`);
  };
  await Promise.all(checkouts.map(expectAll));
}
