import { spawn } from 'node:child_process';
import { join } from 'node:path';
import { repository } from './stack/stack-folder.ts';
import { findTests, selectTests } from './test-run/find-tests.ts';
import { runJest } from './test-run/run-jest.ts';

/** `pnpm check`: everything that can be said without servers, at once, each with its seconds. Exit code 1 on failure. */

type Outcome = { isGood: boolean; output: string };
type Step = { name: string; run: () => Promise<Outcome> };

const steps: Step[] = [
  { name: 'format', run: tool('oxfmt', '--check', '.') },
  { name: 'lint', run: tool('oxlint', '--type-aware', '.') },
  { name: 'types', run: tool('tsc', '-p', '.') },
  {
    name: 'boundaries',
    run: tool('depcruise', '--config', '.dependency-cruiser.mjs', 'cli', 'libs', 'services', 'tests'),
  },
  { name: 'dead code', run: tool('knip', '--no-progress') },
  { name: 'unit tests', run: unitTests },
];

const beganMs = Date.now();
const outcomes = await Promise.all(steps.map(runStep));
console.log(`checked in ${seconds(beganMs)} s`);
if (outcomes.some(({ isGood }) => !isGood)) process.exitCode = 1;

async function runStep({ name, run }: Step): Promise<Outcome> {
  const stepBeganMs = Date.now();
  const outcome = await run();
  console.log(`${outcome.isGood ? 'ok    ' : 'FAILED'} ${name} (${seconds(stepBeganMs)} s)`);
  if (!outcome.isGood) console.log(outcome.output.trim().replaceAll(/^/gm, '  '));
  return outcome;
}

function tool(name: string, ...args: string[]): () => Promise<Outcome> {
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

async function unitTests(): Promise<Outcome> {
  const output: Buffer[] = [];
  const tests = selectTests(findTests(repository), ['line']);
  const { passed, failed } = await runJest({ tests, env: process.env, onOutput: (chunk) => output.push(chunk) });
  return { isGood: failed === 0 && passed > 0, output: Buffer.concat(output).toString() };
}

function seconds(sinceMs: number): string {
  return ((Date.now() - sinceMs) / 1_000).toFixed(1);
}
