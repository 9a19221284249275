import { writeFileSync } from 'node:fs';
import { Command, InvalidArgumentError } from 'commander';
import { explainFailure } from '@waybell/stack/supervised-process';
import { thisMachine, versionsHere } from './lib/machine.ts';
import { describeColumns, formatJson, formatFacts, formatScenario, isMet, type BenchReport } from './lib/report.ts';
import type { Effort, Scenario } from './lib/scenario.ts';
import { scenarios } from './scenarios/scenarios.ts';

const announce = (line: string) => process.stderr.write(`bench: ${line}\n`);

type Options = { quick?: boolean; rounds?: number; json?: string };

const program = new Command('waybell bench')
  .description('measure speed and fairness, beside what one would build instead; prints tables as Markdown')
  .argument('[scenarios...]', 'which of those below; F1 to F8 when left out')
  .option('--quick', 'shorter runs, for a first look')
  .option('--rounds <n>', 'how often each contender runs, in turn', readRounds)
  .option('--json <file>', 'write all figures there, of every round')
  .addHelpText(
    'after',
    [
      '',
      'Scenarios:',
      ...scenarios.map(({ name, description }) => `  ${name.padEnd(12)}${description}`),
      '',
      'Columns of the tables (a figure with a range is the median of the rounds, with the least and the most; – was not measured):',
      ...describeColumns(),
      '',
      'Everything runs on this machine, on servers of its own: leave it alone meanwhile. Exit code 1: a bar was missed.',
      '',
      'Example:',
      '  ./waybell bench F1 --quick',
    ].join('\n'),
  )
  .action(bench);

async function bench(names: string[], { quick = false, rounds, json }: Options): Promise<void> {
  const chosen = chooseScenarios(names);
  const effort = { isQuick: quick, rounds: rounds ?? (quick ? 1 : 3), announce };
  const { report, isAllMet } = await runScenarios(chosen, effort);
  if (json !== undefined) writeFileSync(json, formatJson(report));
  process.exitCode = isAllMet ? 0 : 1;
}

/** Runs one scenario after the other, each on a system of its own; what it finds is printed as soon as it is known. */
async function runScenarios(
  chosen: readonly Scenario[],
  effort: Effort,
): Promise<{ report: BenchReport; isAllMet: boolean }> {
  const print = (text: string) => console.log(`${text}\n`);
  const facts = {
    beganAt: new Date().toISOString(),
    isQuick: effort.isQuick,
    machine: thisMachine(),
    versions: await versionsHere(),
  };
  print(formatFacts(facts));
  const report: BenchReport = { ...facts, scenarios: [] };
  for (const { name, run } of chosen) {
    const announceIt = (line: string) => effort.announce(`${name}: ${line}`);
    announceIt('starting');
    const scenario = { name, ...(await run({ ...effort, announce: announceIt })) };
    report.scenarios.push(scenario);
    print(formatScenario(scenario));
  }
  return { report, isAllMet: report.scenarios.every(({ checks }) => checks.every(isMet)) };
}

function chooseScenarios(names: string[]) {
  if (names.length === 0) return scenarios.filter(({ name }) => name.startsWith('F'));
  return names.map((wanted) => {
    const scenario = scenarios.find(({ name }) => name.toLowerCase() === wanted.toLowerCase());
    if (scenario === undefined) throw new Error(`there is no scenario ${wanted}: see ./waybell bench --help`);
    return scenario;
  });
}

function readRounds(text: string): number {
  const rounds = Number(text);
  if (!Number.isInteger(rounds) || rounds < 1) throw new InvalidArgumentError('it is a whole number from 1');
  return rounds;
}

// The end of this process kills what runs, and removes its files.
for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, () => process.exit(1));
try {
  await program.parseAsync();
} catch (error) {
  announce(explainFailure(error));
  process.exitCode = 1;
}
process.exit();
