import { copyFileSync, cpSync } from 'node:fs';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import manifest from '../../cli/package.json' with { type: 'json' };
import { HELM } from '../helm/helm.ts';
import { goProgram } from '../testing/go-program.ts';
import { runJob, type Job, type JobRun } from './act.ts';
import { copyCheckout } from './copy-checkout.ts';
import { build } from './stand-ins.ts';
import { engine, folder, moveEngine } from './stand.ts';

/** Stands for the machines of GitHub. */
const RUNNER = 'waybell-runner';
/** A short test in place of the whole gate: it needs a broker. */
const SHORT = 'libs/line/broker/queue-check.test.ts';
const TAG = `v${manifest.version}`;
const clone = join(folder, 'workflows');

const run = (job: Omit<JobRun, 'image'> & { image?: string }) => runJob({ engine, clone }, { image: RUNNER, ...job });

/** With that command in the place of another. */
const instead = (found: string, command: string) => (job: Job) => ({
  ...job,
  steps: job.steps.map((step) => (step.run?.includes(found) ? { ...step, run: command } : step)),
});
/** With that command after all others. */
const then = (command: string) => (job: Job) => ({ ...job, steps: [...job.steps, { run: command }] });

async function buildRunner(): Promise<void> {
  const context = join(folder, 'runner');
  cpSync(join(repository, 'tests/docker/runner'), context, { recursive: true });
  for (const name of ['docker-compose', 'docker-buildx'])
    copyFileSync(join(engine.environment['DOCKER_CONFIG'] ?? '', 'cli-plugins', name), join(context, name));
  copyFileSync(await goProgram(HELM), join(context, 'helm'));
  await build(engine, context, '--tag', RUNNER);
}

export function workflows(): void {
  describe('of the workflows, on an engine that reaches registries of packages,', () => {
    beforeAll(async () => {
      copyCheckout(clone);
      await moveEngine("machine's");
      await buildRunner();
    });
    afterAll(() => moveEngine('own'));

    test('gate checks and tests, in a Debian that has nothing', async () => {
      const said = await run({ workflow: 'gate', job: 'gate', change: instead('.ci/run', `.ci/run ${SHORT}`) });
      expect(said).toMatch(/\| [1-9]\d* passed, 0 failed$/m);
    });

    test('nightly runs a part, on another RabbitMQ', async () => {
      const part = { name: 'short', command: `./waybell test ${SHORT}`, minutes: 30 };
      const strategy = { matrix: { rabbitmq: ['4.0'], part: [part] } };
      // Not privileged, which takes more rights than root has on some machines: it may mount.
      const container = { image: 'debian:12', options: '--cap-add SYS_ADMIN' };
      const change = (job: Job) => ({ ...job, strategy, container });
      const said = await run({ workflow: 'nightly', job: 'part', change });
      expect(said).toMatch(/\| [1-9]\d* passed, 0 failed$/m);
    });

    test('release says what is new, and what it is made of', async () => {
      const change = then('cat notes.md waybell.cdx.json');
      const said = await run({ workflow: 'release', job: 'notes', tag: TAG, change });
      expect(said).toContain(`/blob/${TAG}/docs/`);
      expect(said).toContain('"bomFormat"');
    });

    test('release starts the image', async () => {
      const change = instead('.ci/image-starts', '.ci/image-starts waybell');
      const said = await run({ workflow: 'release', job: 'image', tag: TAG, change });
      expect(said).toContain('process.waiting');
    });

    test('release packs the chart', async () => {
      const said = await run({ workflow: 'release', job: 'chart', tag: TAG, change: then('tar -tf waybell-*.tgz') });
      expect(said).toContain('waybell/Chart.yaml');
    });

    test('release packs the packages', async () => {
      const change = then('ls "$RUNNER_TEMP"');
      const said = await run({ workflow: 'release', job: 'packages', image: 'node:26-slim', tag: TAG, change });
      for (const name of ['publisher', 'receiver']) expect(said).toContain(`waybell-${name}-${manifest.version}.tgz`);
    });
  });

  describe('of the workflows, on an engine with networks,', () => {
    afterAll(async () => {
      const project = ['compose', '--project-name', 'workflows'];
      await engine.inside('docker', [...project, 'down', '--volumes'], { cwd: folder });
      await engine.docker('volume', 'rm', '--force', 'act-toolcache');
    });

    test('nightly has docker-compose.yml deliver', async () => {
      const said = await run({ workflow: 'nightly', job: 'compose' });
      expect(said).toMatch(/deliverer +ready/);
      expect(said).toContain('<title>Waybell</title>');
    });
  });
}
