import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { findAdvisories } from './dependencies.ts';
import { makeGenerated } from './docs/make-generated.ts';

type CheckOutcome = { isGood: boolean; output: string; remark?: string };
type CheckStep = { name: string; run: () => Promise<CheckOutcome> };

/** All others read what it makes. */
const firstStep: CheckStep = { name: 'generated code', run: generatedCode };

const steps: CheckStep[] = [
  { name: 'format', run: tool('oxfmt', '--check', '.') },
  { name: 'lint', run: tool('oxlint', '--type-aware', '.') },
  { name: 'types', run: tool('tsc', '-p', '.') },
  { name: 'types of the console', run: tool('tsc', '-p', 'apps/console') },
  {
    name: 'boundaries',
    run: tool(
      'depcruise',
      '--config',
      '.dependency-cruiser.mjs',
      'apps',
      'cli',
      'libs',
      'packages',
      'services',
      'tests',
      'bench',
    ),
  },
  { name: 'dead code', run: tool('knip', '--no-progress') },
  { name: 'advisories', run: advisories },
];

/** Everything that can be said without running it, each with its seconds, and all but the first at once. Exit code 1 on failure. */
export async function check(): Promise<void> {
  const beganMs = Date.now();
  const outcomes = [await runStep(firstStep), ...(await Promise.all(steps.map(runStep)))];
  console.log(`checked in ${seconds(beganMs)} s`);
  if (outcomes.some(({ isGood }) => !isGood)) process.exitCode = 1;
}

async function runStep({ name, run }: CheckStep): Promise<CheckOutcome> {
  const stepBeganMs = Date.now();
  const outcome = await run();
  const remark = outcome.remark === undefined ? '' : `: ${outcome.remark}`;
  console.log(`${outcome.isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds(stepBeganMs)} s)${remark}`);
  if (!outcome.isGood) console.log(outcome.output.trim().replaceAll(/^/gm, '  '));
  return outcome;
}

function tool(name: string, ...args: string[]): () => Promise<CheckOutcome> {
  return async () => {
    const child = spawn(join(repository, 'node_modules', '.bin', name), args, { cwd: repository });
    const output: Buffer[] = [];
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', (error) => output.push(Buffer.from(error.message)));
    const status = await new Promise((resolve) => {
      child.once('close', resolve);
    });
    return { isGood: status === 0, output: Buffer.concat(output).toString() };
  };
}

async function generatedCode(): Promise<CheckOutcome> {
  return makeGenerated().then(
    () => ({ isGood: true, output: '' }),
    (error: Error) => ({ isGood: false, output: error.message }),
  );
}

/**
 * Lists advisories, and what the registry does not say, but never fails the check: others find them without a change here, and a
 * checkout may be without a registry. `./waybell advisories` fails.
 */
async function advisories(): Promise<CheckOutcome> {
  const { found, unknown } = await findAdvisories();
  const remark = [...found, ...unknown.map((each) => `not known: ${each}`)].join('; ');
  return { isGood: true, output: '', ...(remark !== '' && { remark }) };
}

function seconds(sinceMs: number): string {
  return ((Date.now() - sinceMs) / 1_000).toFixed(1);
}
