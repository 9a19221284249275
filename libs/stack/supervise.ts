/**
 * The supervisor of a stack: `supervise` runs in a process that holds the lock, `startDetached` starts such a process, and
 * `untilReady` waits for one that another command started.
 */

import { spawn } from 'node:child_process';
import { rmSync, readFileSync, renameSync, writeFileSync, closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { isExternal, SERVER_NAMES } from './choose-sources.ts';
import { LogTail } from './log-tail.ts';
import { identify, isAlive, type ProcessIdentity } from './process-identity.ts';
import { logFileOf, repository, type StackFolder } from './stack-folder.ts';
import { entryOf, forgetState, writeState, conditionOf, type ProcessEntry, type StackState } from './stack-state.ts';
import { startStack, type Stack } from './stack.ts';
import type { ProcessEvent, SupervisedProcess } from './supervised-process.ts';

type Supervision = {
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
    reportEvent(event, state.phase, report);
  };
  const stopping = untilStopSignal(report, known).then(() => {
    state.phase = 'stopping';
    halt.abort();
  });
  const ticking = setInterval(() => reportWaiting(state, report), 2_000);
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

/** The servers that the stack uses and does not run itself as processes. */
function othersOf({ servers }: Stack): ProcessEntry[] {
  return SERVER_NAMES.filter((name) => isExternal(servers.sources[name])).map((name) => ({
    name,
    role: 'server',
    state: 'external',
    address: servers.url(name),
  }));
}

const external = ({ processes }: StackState): ProcessEntry[] => processes.filter(({ state }) => state === 'external');

function reportEvent(event: ProcessEvent, phase: StackState['phase'], report: (line: string) => void): void {
  const { spec, identity, restarts } = event.process;
  if (event.kind === 'ready' && restarts > 0) report(`${spec.name} is ready again (pid ${identity?.pid})`);
  else if (event.kind === 'ready' && spec.name !== 'epmd') report(`${spec.name} is ready`);
  if (event.kind === 'exited') {
    const next = event.nextInMs === undefined ? '' : `; starting it again in ${event.nextInMs / 1_000} s`;
    report(`${spec.name} ${event.how}${next} (log: ${spec.logFile})`);
  }
  if (event.kind === 'stopped' && phase === 'stopping') report(`${spec.name} has stopped`);
}

function reportWaiting({ phase, processes }: StackState, report: (line: string) => void): void {
  const names = (states: string[]) => processes.filter(({ state }) => states.includes(state)).map(({ name }) => name);
  if (phase === 'starting')
    report(`waiting for ${names(['starting', 'stopping']).join(', ') || 'the tables and queues'}`);
  if (phase === 'stopping') report(`waiting for ${names(['stopping']).join(', ') || 'the servers'} to end`);
}

/** Resolves at the first signal. A second one kills what still runs, which ends the wait for it. */
async function untilStopSignal(report: (line: string) => void, known: Set<SupervisedProcess>): Promise<void> {
  return new Promise((resolve) => {
    let hasBegun = false;
    const onSignal = (signal: NodeJS.Signals) => {
      report(hasBegun ? `${signal} again: killing what still runs` : `${signal}: stopping`);
      if (hasBegun) for (const each of known) void each.kill();
      hasBegun = true;
      resolve();
    };
    for (const signal of ['SIGINT', 'SIGTERM', 'SIGHUP'] as const) process.on(signal, onSignal);
  });
}

/** Starts a supervisor that outlives this process, prints its output, and resolves when everything is ready. */
export async function startDetached(
  folder: StackFolder,
  env: NodeJS.ProcessEnv,
  report: (line: string) => void,
): Promise<void> {
  const logFile = logFileOf(folder, 'supervisor');
  const tail = new LogTail(logFile);
  // Skips the output of earlier runs.
  tail.read();
  const log = openSync(logFile, 'a', 0o600);
  const child = spawn(process.execPath, [join(repository, 'cli', 'main.ts'), 'supervise'], {
    cwd: repository,
    env: { ...env, WAYBELL_HOME: folder.home },
    detached: true,
    stdio: ['ignore', log, log],
  });
  closeSync(log);
  const relay = () => tail.read().forEach((line) => report(line.replace(/^waybell: /, '')));
  try {
    while (!isReady(folder)) {
      // Read before, so that its last words are not missed.
      const isGone = child.exitCode !== null || child.signalCode !== null || child.pid === undefined;
      relay();
      if (isGone && conditionOf(folder).kind !== 'running') {
        throw new Error(`the stack did not start; what happened is in ${logFile}`);
      }
      await pause(50);
    }
    relay();
  } finally {
    child.unref();
  }
}

/** Resolves when the stack that another process starts is ready. Throws when it does not start. */
export async function untilReady(folder: StackFolder, report: (line: string) => void): Promise<void> {
  const beganMs = Date.now();
  const ticking = setInterval(() => report(`still starting (${Math.round((Date.now() - beganMs) / 1_000)} s)`), 2_000);
  try {
    while (!isReady(folder)) {
      if (conditionOf(folder).kind !== 'running') throw new Error(`the stack did not start; see ${folder.logs}`);
      await pause(100);
    }
  } finally {
    clearInterval(ticking);
  }
}

function isReady(folder: StackFolder): boolean {
  const condition = conditionOf(folder);
  return condition.kind === 'running' && condition.state.phase === 'ready';
}

/** Makes this process the only supervisor of the stack. False when another one lives. */
export function acquireLock({ lockFile }: StackFolder): boolean {
  for (let tries = 0; tries < 5; tries += 1) {
    try {
      writeFileSync(lockFile, JSON.stringify(identify(process.pid)), { flag: 'wx', mode: 0o600 });
      return true;
    } catch (error) {
      if (!(error instanceof Error && 'code' in error && error.code === 'EEXIST')) throw error;
      if (isAlive(holderOf(lockFile))) return false;
      removeStale(lockFile);
    }
  }
  return false;
}

function holderOf(lockFile: string): ProcessIdentity | undefined {
  try {
    return JSON.parse(readFileSync(lockFile, 'utf8')) as ProcessIdentity;
  } catch {
    // Gone, or its writer died while writing.
    return undefined;
  }
}

/** Only one of several that find a dead holder's lock can move it away. */
function removeStale(lockFile: string): void {
  const stale = `${lockFile}.${process.pid}`;
  try {
    renameSync(lockFile, stale);
    rmSync(stale);
  } catch {
    // Another one was quicker.
  }
}
