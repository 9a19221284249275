/**
 * Breaks the product in many small ways, one after the other, and says which test sees each. Exit code 1 where one is
 * not seen, or no longer applies. Arguments: parts of names of mutants; all when left out.
 */
import { repository } from '@waybell/stack/stack-folder';
import { report } from '@waybell/cli/report';
import { findTests } from '@waybell/cli/test-run/find-tests';
import { ScratchCopy } from './scratch-copy.ts';
import { mutants } from './table.ts';
import { TestPostgres } from './test-postgres.ts';
import { expectUnbroken, tryOut, type Workplace } from './try-out.ts';

/** Copies of the checkout, each with a mutant at a time. */
const AT_ONCE = 2;

const words = process.argv.slice(2);
const chosen = mutants.filter(({ name }) => words.length === 0 || words.some((word) => name.includes(word)));
if (chosen.length === 0) throw new Error(`no mutant's name has ${words.join(' or ')} in it: see tests/mutants/table/`);

await using cleaning = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleaning.disposeAsync().finally(() => process.exit(1)));
}
const withServers = new Set(
  findTests(repository)
    .filter(({ needs }) => needs !== 'nothing')
    .map(({ path }) => path),
);
const needsPostgres = chosen.some(({ seenBy }) => seenBy.some((suite) => withServers.has(suite)));
const postgres = needsPostgres ? cleaning.use(await TestPostgres.start()) : undefined;
const workplaces: Workplace[] = [];
for (let count = 0; count < AT_ONCE; count += 1) {
  const { path: checkout } = cleaning.use(await ScratchCopy.of(repository));
  workplaces.push({ checkout, postgres, env: (await postgres?.environmentOf(checkout)) ?? process.env });
}
await expectUnbroken(chosen, workplaces);

const waiting = chosen.values();
let failures = 0;
await Promise.all(workplaces.map(work));
console.log(`${chosen.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;

async function work(workplace: Workplace): Promise<void> {
  for (const mutant of waiting) {
    const beganAt = performance.now();
    const { isSeen, how } = await tryOut(mutant, workplace);
    if (!isSeen) failures += 1;
    const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1).padStart(6);
    report(
      `${seconds} s  ${isSeen ? '' : 'NOT SEEN: '}${mutant.name}\n          breaks: ${mutant.promise}\n          ${how}`,
    );
  }
}
