import { existsSync, rmSync } from 'node:fs';
import { join } from 'node:path';
import { removeContainers } from './docker.ts';
import { removePostgresFolder } from './postgres-folder.ts';
import { removeContained } from './private-server.ts';
import { isAlive, signalQuietly, terminate, untilGone } from './process-identity.ts';
import type { StackFolder } from './stack-folder.ts';
import { readRecord } from './stack-record.ts';
import { conditionOf, forgetState, type ProcessEntry, type StackState } from './stack-state.ts';

/** Stops the stack, whichever process runs it, or what a killed supervisor left. Resolves with whether there was anything. */
export async function stopStack(folder: StackFolder, report: (line: string) => void): Promise<boolean> {
  const condition = conditionOf(folder);
  if (condition.kind === 'stopped') return false;
  if (condition.kind === 'running') await askSupervisor(folder, condition.state, report);
  const left = conditionOf(folder);
  if (left.kind !== 'stopped') await cleanUp(folder, left.state, report);
  return true;
}

/** Ends the processes that a dead supervisor left: services first, then servers. */
export async function cleanUp(folder: StackFolder, state: StackState, report: (line: string) => void): Promise<void> {
  const left = state.processes.filter(({ identity }) => isAlive(identity));
  if (left.length > 0) report(`cleaning up what a killed supervisor left: ${left.map(({ name }) => name).join(', ')}`);
  for (const isTurn of TURNS) await Promise.all(left.filter(isTurn).map(end));
  // One may outlive the process that stood for it.
  await removeContainers(state.processes.flatMap(({ container }) => container ?? []));
  forgetState(folder, state.supervisor);
}

/** Deletes the stack's data, logs and secrets, and no other files in its folder. */
export function removeStack(folder: StackFolder): void {
  // First: it may fail, and the record has the passwords of the servers to delete.
  if (existsSync(folder.recordFile)) removeContained(readRecord(folder));
  removePostgresFolder(folder);
  for (const path of ['rabbitmq', 'postgres', 'redis', 'logs']) {
    rmSync(join(folder.home, path), { recursive: true, force: true });
  }
  for (const file of [folder.recordFile, folder.stateFile, folder.lockFile]) rmSync(file, { force: true });
}

// The port mapper last: its broker says goodbye to it.
const TURNS: ((entry: ProcessEntry) => boolean)[] = [
  ({ role }) => role === 'service',
  ({ role, name }) => role === 'server' && name !== 'epmd',
  ({ name }) => name === 'epmd',
];

async function askSupervisor(folder: StackFolder, state: StackState, report: (line: string) => void): Promise<void> {
  signalQuietly(state.supervisor.pid, 'SIGTERM');
  const limitMs = Math.max(0, ...state.processes.map(({ graceMs = 0 }) => graceMs)) + 45_000;
  const beganMs = Date.now();
  const ticking = setInterval(() => {
    const condition = conditionOf(folder);
    const names = condition.kind === 'stopped' ? [] : condition.state.processes.filter(isLeft).map(({ name }) => name);
    report(`waiting for ${names.join(', ') || 'the supervisor'} (${Math.round((Date.now() - beganMs) / 1_000)} s)`);
  }, 2_000);
  if (!(await untilGone(state.supervisor, limitMs))) signalQuietly(state.supervisor.pid, 'SIGKILL');
  await untilGone(state.supervisor, 5_000);
  clearInterval(ticking);
}

const isLeft = ({ identity }: ProcessEntry): boolean => isAlive(identity);

async function end({ identity, graceMs = 0, stopSignal = 'SIGTERM' }: ProcessEntry): Promise<void> {
  if (identity === undefined) return;
  await terminate(identity, { signal: stopSignal, graceMs });
}
