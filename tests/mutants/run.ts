/**
 * Breaks the product in many small ways, one after the other, and says which test sees each. Exit code 1 where one is not seen, or no
 * longer applies. Arguments: parts of names of mutants, all when left out; or `--invent` and how many that nobody has thought of.
 */
import { randomInt } from 'node:crypto';
import { chmodSync, mkdtempSync, rmSync, globSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, basename, dirname } from 'node:path';
import { parseArgs } from 'node:util';
import { repository } from '@waybell/stack/stack-folder';
import { report } from '@waybell/cli/print';
import { findTests } from '@waybell/cli/test-run/find-tests';
import { lendServers } from '@waybell/cli/test-run/lend-servers';
import { Invented } from './invented.ts';
import { readMutants, type Mutant } from './read-mutants.ts';
import { expectUnbroken, tryOut, type Verdict } from './try-out.ts';
import { cp, mkdir, readdir, readlink, symlink } from 'node:fs/promises';

/** Copies of the checkout, each with a mutant at a time. */
const AT_ONCE = 2;
/** Not copied. */
const LEFT_OUT = new Set(['node_modules', '.git', '.waybell']);

const { values, positionals: words } = parseArgs({ options: { invent: { type: 'string' } }, allowPositionals: true });

await using cleaning = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleaning.disposeAsync().finally(() => process.exit(1)));
}
// Postgres runs as another user under root, and must get to its files.
const home = mkdtempSync(join(tmpdir(), 'waybell-mutants-'));
chmodSync(home, 0o711);
cleaning.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
const checkouts = Array.from({ length: AT_ONCE }, (_, place) => join(home, `copy-${place}`));
for (const checkout of checkouts) await copyCheckout(repository, checkout);

type Trial = { mutants: readonly Mutant[]; tryOne: (mutant: Mutant, checkout: string) => Promise<Verdict> };
const { mutants, tryOne } = await (values.invent === undefined ? ofTables() : inventing(Number(values.invent)));
const waiting = mutants.values();
let failures = 0;
await Promise.all(checkouts.map(work));
console.log(`${mutants.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;

async function ofTables(): Promise<Trial> {
  const chosen = readMutants(repository).filter(
    ({ name, seenBy }) => seenBy.length > 0 && (words.length === 0 || words.some((word) => name.includes(word))),
  );
  if (chosen.length === 0) throw new Error(`no mutant's name has ${words.join(' or ')} in it: see tests/mutants/*.txt`);
  const suites = new Set(chosen.flatMap(({ seenBy }) => seenBy));
  const isOnServers = findTests(repository).some(({ path, needs }) => suites.has(path) && needs !== 'nothing');
  const env = isOnServers ? cleaning.use(await lendServers({ home, report, note: report })).environment : {};
  await expectUnbroken(chosen, checkouts, env);
  return { mutants: chosen, tryOne: (mutant, checkout) => tryOut(mutant, checkout, env) };
}

async function inventing(count: number): Promise<Trial> {
  const { TEST_SEED: seed = String(randomInt(2 ** 31)) } = process.env;
  // It is not that of the tests.
  delete process.env['TEST_SEED'];
  report(`mistakes are invented from TEST_SEED=${seed}`);
  const invented = cleaning.use(new Invented(home));
  const [checkout = ''] = checkouts;
  return {
    mutants: await invented.choose(count, Number(seed), checkout),
    tryOne: (mutant, copy) => invented.tryOut(mutant, copy),
  };
}

async function work(checkout: string): Promise<void> {
  for (const mutant of waiting) {
    const beganAt = performance.now();
    const { isSeen, how } = await tryOne(mutant, checkout);
    if (!isSeen) failures += 1;
    const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1).padStart(6);
    const breaks = mutant.promise === '' ? '' : `\n          breaks: ${mutant.promise}`;
    report(`${seconds} s  ${isSeen ? '' : 'NOT SEEN: '}${mutant.name}${breaks}\n          ${how}`);
  }
}

/** A copy of the checkout, as it is, whose packages know each other and not those of the checkout. */
async function copyCheckout(checkout: string, path: string): Promise<void> {
  await cp(checkout, path, { recursive: true, filter: (from) => !LEFT_OUT.has(basename(from)) });
  for (const each of globSync('**/package.json', { cwd: path }).map(dirname)) {
    await linkAll(join(checkout, each, 'node_modules'), join(path, each, 'node_modules'));
  }
}

/** Links are relative: copied as they are, those to packages of the workspace lead to the copy's. */
async function linkAll(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => []);
  if (entries.length > 0) await mkdir(to, { recursive: true });
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.name.startsWith('@')) await linkAll(source, target);
    else await symlink(source, target);
  }
}
