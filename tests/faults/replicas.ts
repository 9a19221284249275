import { serviceNames } from '@waybell/stack/services';
import type { SupervisedProcess } from '@waybell/stack/supervised-process';
import { logOf, replicaOf } from '../testing/replica.ts';
import { buildPlainStage, type BuiltStage, type Scale, type Settings, type Stage } from './stage.ts';

const REPLICAS = 3;

/** Like the plain stage, with three replicas of each service, all of which belong to its stack. */
export async function buildReplicatedStage(settings: Settings, scale: Scale): Promise<BuiltStage> {
  await using started = new AsyncDisposableStack();
  const stage = started.use(await buildPlainStage(settings, scale));
  for (let count = 1; count < REPLICAS; count += 1) {
    for (const name of serviceNames) await addReplica(stage, name);
  }
  started.move();
  return stage;
}

/** One more of that service; it comes back by itself when it is killed. */
export async function addReplica({ stack: { stack } }: Stage, name: string): Promise<void> {
  const numbers = stack.services.map(({ spec }) => Number(/-(\d+)$/.exec(spec.name)?.[1] ?? 1));
  stack.services.push(await replicaOf(stack.service(name), { number: Math.max(...numbers) + 1, restart: 'soon' }));
}

/** SIGTERM. Resolves, when it is gone, with what was wrong with how it went. */
export async function removeReplica({ stack: { stack } }: Stage, replica: SupervisedProcess): Promise<string[]> {
  await replica.stop();
  stack.services.splice(stack.services.indexOf(replica), 1);
  const messages = logOf(replica.spec).map(({ msg }) => msg);
  return messages.at(-1) === 'process.stopped'
    ? []
    : [`${replica.spec.name} was told to stop, and did not end in order`];
}

/** Returns the running ones, the service itself first. */
export function replicasOf({ stack }: Stage, name: string): SupervisedProcess[] {
  return stack.stack.services.filter(({ spec }) => spec.name.replace(/-\d+$/, '') === name);
}
