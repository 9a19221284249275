import { execFile } from 'node:child_process';
import { setTimeout as sleep } from 'node:timers/promises';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { serviceNames } from '@waybell/stack/services';
import { repository } from '@waybell/stack/stack-folder';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { plainEnvironment } from '@waybell/cli/testing/plain-environment';
import { addReplica, replicasOf } from './replicas.ts';
import { buildPlainStage, type BuiltStage, type Scale, type Settings, type Stage } from './stage.ts';

/** The folder of the sources that a process runs from. */
export type Sources = string;
export const here: Sources = repository;

const run = promisify(execFile);

/** Two of each service, all of one version, on the tables and queues that this one makes. */
export async function buildStageOf(sources: Sources, settings: Settings, scale: Scale): Promise<BuiltStage> {
  await using started = new AsyncDisposableStack();
  const stage = started.use(await buildPlainStage(settings, scale));
  const { stack } = stage.stack;
  if (sources !== here) {
    await Promise.all(stack.services.map((service) => service.stop()));
    await stage.stack.postgres.query('drop schema waybell, delivery_log cascade');
    await prepare(stage, sources);
    await Promise.all(stack.services.map((service) => runFrom(service, sources)));
  }
  for (const name of serviceNames) await addReplica(stage, name);
  started.move();
  return stage;
}

/** Queues and tables of that version, beside services that run. */
export async function prepare({ stack }: Stage, sources: Sources): Promise<void> {
  const addresses = { AMQP_URL: stack.brokerUrl, DATABASE_URL: stack.stack.servers.url('postgres') };
  const env = { ...plainEnvironment(), ...stack.stack.service('deliverer').spec.env, ...addresses };
  for (const command of ['migrate', 'declare']) {
    await run(process.execPath, [join(sources, 'cli/main.ts'), command], { cwd: sources, env });
  }
}

/** Told to stop, and started from there. */
export async function runFrom(service: SupervisedProcess, sources: Sources): Promise<void> {
  const { spec } = service;
  const entry = spec.args.findIndex((arg) => arg.endsWith('/main.ts'));
  const name = spec.name.replace(/-\d+$/, '');
  spec.args = spec.args.with(entry, join(sources, 'services', name, 'main.ts'));
  spec.cwd = sources;
  await service.restart();
}

/** How long one of each version run beside each other, of each service in turn. */
const BESIDE_MS = { short: 1_500, release: 60_000 };

/** From one version to another, a service after the other, in that order; `beside` goes on while each runs in both. */
export async function roll(
  stage: Stage,
  {
    names,
    to,
    beside = async () => undefined,
  }: { names: readonly string[]; to: Sources; beside?: (name: string) => Promise<void> },
): Promise<void> {
  for (const name of names) {
    const [first, second] = replicasOf(stage, name);
    if (first === undefined || second === undefined) throw new Error(`there are no two of ${name}`);
    await runFrom(second, to);
    await Promise.all([sleep(BESIDE_MS[stage.scale]), beside(name)]);
    await runFrom(first, to);
  }
}

/** Rolls to that version, and back to the other. */
export async function rollAndBack(
  stage: Stage,
  { first, from, to }: { first: readonly string[]; from: Sources; to: Sources },
): Promise<void> {
  const names = [...first, ...serviceNames.filter((name) => !first.includes(name))];
  await roll(stage, { names, to });
  await roll(stage, { names: names.toReversed(), to: from });
}
