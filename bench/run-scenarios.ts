import { thisMachine, versionsHere } from './lib/machine.ts';
import { formatFacts, formatScenario, isMet, type BenchReport } from './lib/report.ts';
import type { Effort, Scenario } from './lib/scenario.ts';

/** Runs one scenario after the other, each on a system of its own; what it finds is printed as soon as it is known. */
export async function runScenarios(
  scenarios: readonly Scenario[],
  effort: Effort,
  print: (text: string) => void,
): Promise<{ report: BenchReport; isAllMet: boolean }> {
  const facts = {
    beganAt: new Date().toISOString(),
    isQuick: effort.isQuick,
    machine: thisMachine(),
    versions: await versionsHere(),
  };
  print(formatFacts(facts));
  const report: BenchReport = { ...facts, scenarios: [] };
  for (const { name, run } of scenarios) {
    const tell = (line: string) => effort.tell(`${name}: ${line}`);
    tell('starting');
    const scenario = { name, ...(await run({ ...effort, tell })) };
    report.scenarios.push(scenario);
    print(formatScenario(scenario));
  }
  return { report, isAllMet: report.scenarios.every(({ checks }) => checks.every(isMet)) };
}
