/**
 * The fault bench: brings faults about, one after the other, and prints what each cost. Exit code 1 where a bar was not
 * kept. Arguments: rows (`L1` … `L19`, `G1` … `G5`, `D1`; all when left out) and `--release` for the full length.
 */
import { allFaults } from './all-faults.ts';
import { reportFault } from './fault-table.ts';
import { prove } from './prove.ts';
import { Stages, type Scale } from './stage.ts';

const words = process.argv.slice(2);
const scale: Scale = words.includes('--release') ? 'release' : 'short';
const rows = words.filter((word) => !word.startsWith('--')).map((word) => word.toUpperCase());
const chosen = allFaults.filter(({ row }) => rows.length === 0 || rows.includes(row));
if (chosen.length === 0) {
  const known = [...new Set(allFaults.map(({ row }) => row))];
  throw new Error(`no fault is called ${rows.join(', ')}: there are ${known.join(', ')}`);
}

await using stages = new Stages(scale);
let ending: Promise<void> | undefined;
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) {
  // What was started must not outlive the bench, however often it is told to end.
  process.on(signal, () => {
    ending ??= stages.clear().finally(() => process.exit(1));
  });
}
let failures = 0;
for (const fault of chosen) {
  try {
    const proofs = await prove([fault], { stages, scale });
    proofs.forEach(reportFault);
    if (proofs.some(({ problems }) => problems.length > 0)) failures += 1;
  } catch (error) {
    failures += 1;
    process.stderr.write(`    NOT ENDED: ${String(error)}\n`);
  }
}
console.log(`${chosen.length - failures} passed, ${failures} failed`);
if (failures > 0) process.exitCode = 1;
