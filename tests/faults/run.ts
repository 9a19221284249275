/**
 * The fault bench: brings faults about, one after the other, and prints what each cost. Exit code 1 where a bar was not
 * kept. Arguments: rows (`L1` …, `G1` …, `D1`; all when left out), words that are to be in the name of a fault,
 * `--release` for the full length, and `--write` to put the figures into docs/guarantees.md.
 */
import { readFileSync, writeFileSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { allFaults } from './all-faults.ts';
import { figuresOfLines, reportFault } from './fault-table.ts';
import { GUARANTEES, tableOf, VERSIONS, withFigures } from './guarantees-table.ts';
import { prove, type Proof } from './prove.ts';
import { Stages, type Scale } from './stage.ts';

const words = process.argv.slice(2);
const scale: Scale = words.includes('--release') ? 'release' : 'short';
const version = VERSIONS.find((each) => process.env['RABBITMQ_VERSION']?.startsWith(each)) ?? VERSIONS[0];
const given = words.filter((word) => !word.startsWith('--'));
const [rows, parts] = [given.filter(isRow).map((word) => word.toUpperCase()), given.filter((word) => !isRow(word))];
const chosen = allFaults.filter(
  ({ row, name }) => (rows.length === 0 || rows.includes(row)) && parts.every((part) => name.includes(part)),
);
if (chosen.length === 0) {
  const known = [...new Set(allFaults.map(({ row }) => row))];
  throw new Error(`no fault is called ${given.join(' ')}: there are ${known.join(', ')}`);
}

await using stages = new Stages(scale);
let ending: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // Child processes must not outlive the bench, however often it is told to end.
  process.on(signal, () => {
    ending ??= stages.clear().finally(() => process.exit(1));
  });
}
let failures = 0;
const proven: Proof[] = [];
for (const fault of chosen) {
  if (ending !== undefined) break;
  try {
    const proof = await prove(fault, { stages, scale });
    reportFault(proof);
    proven.push(proof);
    if (proof.problems.length > 0) failures += 1;
  } catch (error) {
    failures += 1;
    // Its stage went away: that proves nothing.
    const what = ending === undefined ? `NOT ENDED: ${String(error)}` : 'CUT SHORT by a signal';
    process.stderr.write(`    ${what}\n`);
  }
}
const file = join(repository, GUARANTEES);
const figures = figuresOfLines(proven);
const page = withFigures(readFileSync(file, 'utf8'), version, figures);
process.stderr.write(`\n${tableOf(page, [...figures.keys()]).join('\n')}\n`);
if (words.includes('--write')) writeFileSync(file, page);
console.log(`${chosen.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;

/** Any other word is part of a name. */
function isRow(word: string): boolean {
  return /^[lgd]\d+$/i.test(word);
}
