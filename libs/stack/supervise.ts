import { rmSync } from 'node:fs';
import { identify } from './process-identity.ts';
import { startStack, type Stack } from './stack.ts';
import type { StackFolder } from './stack-folder.ts';
import { entryOf, forgetState, writeState, type ProcessEntry, type StackState } from './stack-state.ts';
import type { ProcessEvent, SupervisedProcess } from './supervised-process.ts';
import { isElsewhere, SERVER_NAMES } from './choose-sources.ts';

export type Supervision = {
  folder: StackFolder;
  env: NodeJS.ProcessEnv;
  report: (line: string) => void;
  /** Called once everything is ready. */
  onReady: (state: StackState) => void;
};

/**
 * Runs the stack in this process until SIGINT, SIGTERM or SIGHUP, keeps every process of it alive, and writes down its
 * state on every change. The caller holds the lock. Throws, with nothing left running, when the stack does not start.
 */
export async function supervise({ folder, env, report, onReady }: Supervision): Promise<void> {
  const halt = new AbortController();
  const known = new Set<SupervisedProcess>();
  const state = beginState();
  const save = () => {
    state.processes = [...external(state), ...[...known].map(entryOf)];
    writeState(folder, state);
  };
  const onEvent = (event: ProcessEvent) => {
    known.add(event.process);
    save();
    tell(event, state.phase, report);
  };
  const stopping = untilToldToStop(report, known).then(() => {
    state.phase = 'stopping';
    halt.abort();
  });
  const ticking = setInterval(() => tellWaiting(state, report), 2_000);
  save();
  try {
    const stack = await startStack({
      home: folder.home,
      env,
      restart: 'backed off',
      onEvent,
      report,
      signal: halt.signal,
    });
    Object.assign(state, { phase: 'ready', addresses: stack.addresses, queues: stack.queues });
    state.processes = othersOf(stack);
    save();
    onReady(state);
    await stopping;
    await stack.stop();
  } catch (error) {
    if (!halt.signal.aborted) throw error;
  } finally {
    clearInterval(ticking);
    forgetState(folder, state.supervisor);
    rmSync(folder.lockFile, { force: true });
  }
  report('stopped');
}

function beginState(): StackState {
  const supervisor = identify(process.pid);
  if (supervisor === undefined) throw new Error('cannot read when this process began');
  return { supervisor, phase: 'starting', began: new Date().toISOString(), addresses: {}, processes: [], queues: [] };
}

/** Resolves at the first signal. A second one kills what still runs, which ends the wait for it. */
async function untilToldToStop(report: (line: string) => void, known: Set<SupervisedProcess>): Promise<void> {
  return new Promise((resolve) => {
    let hasBegun = false;
    const hear = (signal: NodeJS.Signals) => {
      report(hasBegun ? `${signal} again: killing what still runs` : `${signal}: stopping`);
      if (hasBegun) for (const each of known) void each.kill();
      hasBegun = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, hear);
  });
}

const external = ({ processes }: StackState): ProcessEntry[] => processes.filter(({ state }) => state === 'external');

/** The servers that the stack uses and does not run itself as processes. */
function othersOf({ servers }: Stack): ProcessEntry[] {
  return SERVER_NAMES.filter((name) => isElsewhere(servers.sources[name])).map((name) => ({
    name,
    role: 'server',
    state: 'external',
    address: servers.url(name),
  }));
}

function tell(event: ProcessEvent, phase: StackState['phase'], report: (line: string) => void): void {
  const { spec, identity, restarts } = event.process;
  if (event.kind === 'ready' && restarts > 0) report(`${spec.name} is ready again (pid ${identity?.pid})`);
  else if (event.kind === 'ready' && spec.name !== 'epmd') report(`${spec.name} is ready`);
  if (event.kind === 'exited') {
    const next = event.nextInMs === undefined ? '' : `; starting it again in ${event.nextInMs / 1_000} s`;
    report(`${spec.name} ${event.how}${next} (log: ${spec.logFile})`);
  }
  if (event.kind === 'stopped' && phase === 'stopping') report(`${spec.name} has stopped`);
}

function tellWaiting({ phase, processes }: StackState, report: (line: string) => void): void {
  const names = (states: string[]) => processes.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  if (phase === 'starting')
    report(`waiting for ${names(['starting', 'stopping']).join(', ') || 'the tables and queues'}`);
  if (phase === 'stopping') report(`waiting for ${names(['stopping']).join(', ') || 'the servers'} to end`);
}
