import { existsSync, readFileSync, rmSync } from 'node:fs';
import { isAlive, type ProcessIdentity } from './process-identity.ts';
import { writePrivately, type StackFolder } from './stack-folder.ts';
import type { ProcessState, SupervisedProcess } from './supervised-process.ts';

/** One process of a stack, or a server that others run. */
export type ProcessEntry = {
  name: string;
  role: 'server' | 'service';
  state: ProcessState | 'external';
  address: string;
  /** The rest is absent for processes that others run. */
  identity?: ProcessIdentity | undefined;
  container?: string;
  health?: string;
  restarts?: number;
  logFile?: string;
  stopSignal?: NodeJS.Signals;
  graceMs?: number;
};

/**
 * The state that the supervisor writes on every change, for other commands and for the next supervisor, which cleans up after it.
 */
export type StackState = {
  supervisor: ProcessIdentity;
  phase: 'starting' | 'ready' | 'stopping';
  began: string;
  addresses: Record<string, string>;
  processes: ProcessEntry[];
  queues: string[];
};

/** Running; or not; or abandoned: the supervisor is gone without having stopped the rest. */
export type Condition =
  | { kind: 'stopped' }
  | { kind: 'running'; state: StackState }
  | { kind: 'abandoned'; state: StackState };

export function conditionOf(folder: StackFolder): Condition {
  if (!existsSync(folder.stateFile)) return { kind: 'stopped' };
  // Written by writeState and by nothing else.
  const state = JSON.parse(readFileSync(folder.stateFile, 'utf8')) as StackState;
  return { kind: isAlive(state.supervisor) ? 'running' : 'abandoned', state };
}

export function writeState(folder: StackFolder, state: StackState): void {
  writePrivately(folder.stateFile, `${JSON.stringify(state, null, 2)}\n`);
}

/** Deletes what that supervisor wrote down, and leaves alone what another one has written since. */
export function forgetState(folder: StackFolder, supervisor: ProcessIdentity): void {
  const condition = conditionOf(folder);
  if (condition.kind === 'stopped' || condition.state.supervisor.pid !== supervisor.pid) return;
  rmSync(folder.stateFile, { force: true });
}

export function entryOf({ spec, state, identity, restarts }: SupervisedProcess): ProcessEntry {
  const { name, role, address, health, container, logFile, stopSignal = 'SIGTERM', graceMs } = spec;
  const entry = { name, role, state, address, identity, restarts, logFile, stopSignal, graceMs };
  return { ...entry, ...(health !== undefined && { health }), ...(container !== undefined && { container }) };
}

/** The stack that a command needs does not run. */
export class NotRunning extends Error {
  constructor(folder: StackFolder, { kind }: Condition) {
    const why =
      kind === 'abandoned'
        ? 'its supervisor was killed; "./waybell up" or "./waybell down" cleans up'
        : 'start it with "./waybell up"';
    super(`no stack runs in ${folder.home}: ${why}`);
    this.name = 'NotRunning';
  }
}

/** The state of the running stack. Throws NotRunning. */
export function requireRunning(folder: StackFolder): StackState {
  const condition = conditionOf(folder);
  if (condition.kind !== 'running') throw new NotRunning(folder, condition);
  return condition.state;
}

/** The addresses of the running stack and what to try first. */
export function describeStack(folder: StackFolder): string {
  const { addresses } = requireRunning(folder);
  return [
    '',
    'Waybell is up.',
    ...Object.entries(addresses).map(
      ([name, value]) => `  ${name.padEnd(14)}${value.split(',').join(`\n${' '.repeat(16)}`)}`,
    ),
    '',
    `  ${addresses['API_URL']}/console/    what happened and why, as a page: for clients`,
    `  ${addresses['ADMIN_URL']}/console/    the same for operators`,
    `  ${addresses['API_URL']}/docs        the REST interface, as a page`,
    '',
    '  ./waybell status    what runs, and what waits in the queues',
    '  ./waybell logs -f   what the services say',
    '  ./waybell down      stop it',
    '',
  ].join('\n');
}
