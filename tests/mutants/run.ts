/**
 * Breaks the product in many small ways, one after the other, and says which test sees each. Exit code 1 where one is
 * not seen, or no longer applies. Arguments: parts of names of mutants; all when left out.
 */
import { chmodSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { report } from '@waybell/cli/report';
import { findTests } from '@waybell/cli/test-run/find-tests';
import { lendServers } from '@waybell/cli/test-run/lend-servers';
import { copyCheckout } from './copy-checkout.ts';
import { readMutants } from './read-mutants.ts';

import { expectUnbroken, tryOut } from './try-out.ts';

/** Copies of the checkout, each with a mutant at a time. */
const AT_ONCE = 2;

const words = process.argv.slice(2);
const chosen = readMutants(repository).filter(
  ({ name }) => words.length === 0 || words.some((word) => name.includes(word)),
);
if (chosen.length === 0) throw new Error(`no mutant's name has ${words.join(' or ')} in it: see tests/mutants/*.txt`);

await using cleaning = new AsyncDisposableStack();
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  process.once(signal, () => void cleaning.disposeAsync().finally(() => process.exit(1)));
}
// Postgres runs as another user under root, and must get to its files.
const home = mkdtempSync(join(tmpdir(), 'waybell-mutants-'));
chmodSync(home, 0o711);
cleaning.defer(() => rmSync(home, { recursive: true, force: true, maxRetries: 10 }));
const suites = new Set(chosen.flatMap(({ seenBy }) => seenBy));
if (findTests(repository).some(({ path, needs }) => suites.has(path) && needs !== 'nothing')) {
  Object.assign(process.env, cleaning.use(await lendServers({ home, report, note: report })).environment);
}
const checkouts = Array.from({ length: AT_ONCE }, (_, place) => join(home, `copy-${place}`));
for (const checkout of checkouts) await copyCheckout(repository, checkout);
await expectUnbroken(chosen, checkouts);

const waiting = chosen.values();
let failures = 0;
await Promise.all(checkouts.map(work));
console.log(`${chosen.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;

async function work(checkout: string): Promise<void> {
  for (const mutant of waiting) {
    const beganAt = performance.now();
    const { isSeen, how } = await tryOut(mutant, checkout);
    if (!isSeen) failures += 1;
    const seconds = ((performance.now() - beganAt) / 1_000).toFixed(1).padStart(6);
    report(
      `${seconds} s  ${isSeen ? '' : 'NOT SEEN: '}${mutant.name}\n          breaks: ${mutant.promise}\n          ${how}`,
    );
  }
}
