import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { parse, stringify } from 'yaml';
import { goProgram } from '../testing/go-program.ts';
import type { Engine } from './engine.ts';

const CHECKOUT = 'actions/checkout@';
/** Steps that change what others see, and need the right to. */
const PUBLISHES = /\b(docker buildx imagetools create|helm registry login|helm push|npm publish|gh release create) /;

export type Step = { uses?: string; run?: string; env?: Record<string, string> };
export type Job = { steps: Step[]; needs?: string[]; strategy?: object; container?: unknown };

/** The place where a workflow runs: an engine, and a clone with its files. */
export type Place = { engine: Engine; clone: string };

export type JobRun = {
  workflow: 'gate' | 'nightly' | 'release';
  job: string;
  /** The image that stands for the machine, where the job names no container. */
  image: string;
  /** Changes the job of the workflow's file. */
  change?: (job: Job) => Job;
  /** The tag that is pushed; else the main branch is. */
  tag?: string;
  env?: Record<string, string>;
};

/**
 * Runs a job of a workflow as GitHub would, in a container of its own, but for the steps that publish, and for actions of
 * others, which are not reached: of them checkout alone is done, as `act` has the files already. Resolves with what it
 * printed; rejects, with the end of that, where it fails.
 */
export async function runJob(place: Place, run: JobRun): Promise<string> {
  const program = await goProgram('github.com/nektos/act@v0.2.89');
  const { job, image, tag, env = {}, change = (same) => same } = run;
  const { needs: _, ...found } = readJob(place, run);
  const isRun = ({ uses = CHECKOUT, run: command = '' }: Step) => uses.startsWith(CHECKOUT) && !PUBLISHES.test(command);
  const folder = mkdtempSync(join(tmpdir(), 'waybell-act-'));
  const write = (name: string, text: string) => {
    writeFileSync(join(folder, name), text);
    return join(folder, name);
  };
  const file = write(
    'workflow.yml',
    stringify({ on: 'push', jobs: { [job]: change({ ...found, steps: found.steps.filter(isRun) }) } }),
  );
  const event = write(
    'event.json',
    JSON.stringify({ ref: tag === undefined ? 'refs/heads/main' : `refs/tags/${tag}` }),
  );
  const settings = Object.entries(env).flatMap(([name, value]) => ['--env', `${name}=${value}`]);
  const images = ['--platform', `ubuntu-24.04=${image}`, '--pull=false'];
  const cache = ['--action-cache-path', join(folder, 'actions'), '--no-cache-server'];
  const args = ['push', '--workflows', file, '--eventpath', event, '--rm', ...images, ...settings, ...cache];
  try {
    return await place.engine.inside(program, args, { cwd: place.clone, env: { XDG_CONFIG_HOME: folder } });
  } catch (error) {
    const { stdout = String(error) } = error as { stdout?: string };
    throw new Error(`${job} of ${run.workflow}.yml failed:\n${stdout.split('\n').slice(-60).join('\n')}`, {
      cause: error,
    });
  } finally {
    rmSync(folder, { recursive: true });
  }
}

function readJob({ clone }: Place, { workflow, job }: JobRun): Job {
  const file = join(clone, '.github/workflows', `${workflow}.yml`);
  const found = (parse(readFileSync(file, 'utf8')) as { jobs: Record<string, Job> }).jobs[job];
  if (found === undefined) throw new Error(`${file} has no job ${job}`);
  return found;
}
