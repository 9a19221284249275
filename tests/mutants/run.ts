/**
 * Breaks the product in many small ways, one after the other, and prints which test sees each. Exit code 1 where one is
 * not seen, or no longer applies. Arguments: parts of names of mutants; all when left out.
 */
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startServers } from '@waybell/stack/servers';
import { repository } from '@waybell/stack/stack-folder';
import { findTests } from '@waybell/cli/test-run/find-tests';
import type { Mutant } from './mutant.ts';
import { runSuites } from './run-suites.ts';
import { ScratchCopy } from './scratch-copy.ts';
import { mutants } from './table.ts';

/** Copies of the checkout, each with a mutant at a time. */
const AT_ONCE = 2;

type Verdict = { isSeen: boolean; how: string };

const words = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0)
  throw new Error(`no mutant's name has ${words.join(' or ')} in it: see tests/mutants/table.ts`);

await using cleaning = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleaning.disposeAsync().finally(() => process.exit(1)));
}
const env = await environment();
const copies = await Promise.all(Array.from({ length: AT_ONCE }, () => ScratchCopy.of(repository)));
for (const copy of copies) cleaning.use(copy);

await expectUnbroken(copies[0]?.path ?? '');
const waiting = [...chosen];
let failures = 0;
await Promise.all(copies.map((copy) => work(copy.path)));
console.log(`${chosen.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;

async function work(checkout: string): Promise<void> {
  for (let mutant = waiting.shift(); mutant !== undefined; mutant = waiting.shift()) {
    const beganAt = performance.now();
    const { isSeen, how } = await tryOut(mutant, checkout);
    if (!isSeen) failures += 1;
    const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1);
    console.log(
      `${isSeen ? 'seen    ' : 'NOT SEEN'} ${mutant.name} (${seconds} s)\n    breaks: ${mutant.promise}\n    ${how}`,
    );
  }
}

async function tryOut({ file, find, replace, seenBy }: Mutant, checkout: string): Promise<Verdict> {
  const path = join(checkout, file);
  const source = await readFile(path, 'utf8');
  const places = source.split(find).length - 1;
  if (places !== 1) return { isSeen: false, how: `no longer applies: "${find}" is ${places} times in ${file}` };
  await writeFile(
    path,
    source.replace(find, () => replace),
  );
  try {
    const { failed, unloaded } = await runSuites({ checkout, suites: seenBy, env });
    const [first] = failed;
    if (first !== undefined) return { isSeen: true, how: `seen by: ${first.suite}: ${first.test}` };
    return {
      isSeen: false,
      how: unloaded.length > 0 ? `did not load: ${unloaded.join()}` : `passed: ${seenBy.join()}`,
    };
  } finally {
    await writeFile(path, source);
  }
}

async function expectUnbroken(checkout: string): Promise<void> {
  const suites = [...new Set(chosen.flatMap(({ seenBy }) => seenBy))];
  const { failed, unloaded, said } = await runSuites({ checkout, suites, env });
  if (failed.length + unloaded.length > 0) throw new Error(`fails without any mutant, too:\n${said}`);
}

/** With servers where a suite needs them. */
async function environment(): Promise<NodeJS.ProcessEnv> {
  const needing = new Set(
    findTests(repository)
      .filter(({ needsServers }) => needsServers)
      .map(({ path }) => path),
  );
  if (!chosen.some(({ seenBy }) => seenBy.some((suite) => needing.has(suite)))) return process.env;
  const home = await mkdtemp(join(tmpdir(), 'waybell-mutants-servers-'));
  // Postgres runs as another user under root, and must get to its files.
  await chmod(home, 0o711);
  cleaning.defer(() => rm(home, { recursive: true, force: true, maxRetries: 10 }));
  const servers = await startServers({ home, env: process.env, only: ['postgres'] });
  cleaning.defer(() => servers.stop());
  return { ...process.env, TEST_DATABASE_URL: servers.url('postgres') };
}
