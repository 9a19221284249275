/**
 * A process of a stack, which is started, watched and stopped:
 *
 *     stopped ──start──▶ starting ──▶ ready ──ends by itself──▶ restarting ──after a pause──▶ starting
 *
 * `stop` leads from each of them over `stopping` to `stopped`. With the policy `never` one that ends by itself is stopped.
 */

import { spawn } from 'node:child_process';
import { closeSync, openSync, existsSync, readFileSync } from 'node:fs';
import { setTimeout as pause } from 'node:timers/promises';
import { backoffMs } from '@waybell/runtime/backoff';
import { removeContainers, removeContainersNow, signalContainer } from './docker.ts';
import { identify, signalQuietly, untilGone, type ProcessIdentity } from './process-identity.ts';

export type ProcessSpec = {
  name: string;
  role: 'server' | 'service';
  command: string;
  args: string[];
  /** The container that the command runs, if any: signals reach it, except SIGKILL. */
  container?: string;
  env: NodeJS.ProcessEnv;
  cwd: string;
  /** The user to run as, where not the caller. */
  user?: { uid: number; gid: number };
  logFile: string;
  /** Its address: host and port, or a URL. */
  address: string;
  /** URL of `/readyz` and `/metrics`, without the path, where it has them. */
  health?: string;
  /** Returns what it still waits for; undefined once it is ready. */
  waitsFor: () => Promise<string | undefined>;
  /** How long it may take to be ready, and to stop, before that counts as a failure. */
  readyMs: number;
  graceMs: number;
  /** The signal that stops it; SIGTERM by default. */
  stopSignal?: NodeJS.Signals;
};

export type ProcessState = 'starting' | 'ready' | 'restarting' | 'stopping' | 'stopped';

export type ProcessEvent =
  | { kind: 'spawned' | 'ready' | 'stopped'; process: SupervisedProcess }
  | { kind: 'exited'; process: SupervisedProcess; how: string; nextInMs: number | undefined };

/** Whether a process that has ended is started again; `soon`: after a second at most, if a test must not wait. */
export type RestartPolicy = 'never' | 'backed off' | 'soon';

/** Pauses between restarts: 0.2 s, doubling to 10 s; back to 0.2 s once a run has lasted 30 s. */
const RESTART_BACKOFF = { firstMs: 200, longestMs: 10_000, steadyMs: 30_000 };
const SOON_MS = 1_000;

/**
 * How long a server or service may take to be ready. There to end a start that will never succeed, not to measure: with
 * everything starting at once on two slow cores, RabbitMQ takes minutes. What ends by itself is noticed at once.
 */
export const STARTING_LIMIT_MS = 240_000;

const STARTING_GRACE_MS = 3_000;
const SHOWN_LINES = 15;

/** A process did not become ready. Its log says why. */
export class StartFailed extends Error {
  readonly logFile: string;
  constructor(spec: ProcessSpec, reason: string) {
    super(`${spec.name} ${reason}`);
    this.name = 'StartFailed';
    this.logFile = spec.logFile;
  }
}

type SupervisedOptions = {
  restart: RestartPolicy;
  onEvent: (event: ProcessEvent) => void;
  /** How long a server that is still starting has to stop. */
  startingGraceMs?: number;
};

type ProcessRun = { beganMs: number; exited: Promise<string> };

/** Running processes. If this process ends without stopping them, they are killed: otherwise they would run for ever. */
const running = new Set<SupervisedProcess>();
process.once('exit', () => {
  removeContainersNow([...running].flatMap(({ spec }) => spec.container ?? []));
  for (const { identity } of running) if (identity !== undefined) signalQuietly(-identity.pid, 'SIGKILL');
});

/**
 * A child in a process group of its own, so that Ctrl-C reaches the supervisor alone. It is started
 * again, by its policy, whenever it ends without having been asked to.
 */
export class SupervisedProcess {
  readonly spec: ProcessSpec;
  state: ProcessState = 'stopped';
  restarts = 0;
  identity: ProcessIdentity | undefined;
  /** How its last run ended, in words; undefined before that. */
  howItEnded: string | undefined;
  readonly #restart: RestartPolicy;
  readonly #startingGraceMs: number;
  readonly #notify: (event: ProcessEvent) => void;
  #run: ProcessRun | undefined;
  #halt = new AbortController();

  constructor(spec: ProcessSpec, { restart, onEvent, startingGraceMs = STARTING_GRACE_MS }: SupervisedOptions) {
    this.spec = spec;
    this.#restart = restart;
    this.#notify = onEvent;
    this.#startingGraceMs = startingGraceMs;
  }

  /** Starts it and resolves when it is ready. Throws StartFailed when it ends, or is not ready in time. */
  async start(): Promise<void> {
    this.#halt = new AbortController();
    const run = this.#spawn();
    const problem = await this.#untilReady(run);
    if (problem !== undefined) {
      await this.stop();
      throw new StartFailed(this.spec, problem);
    }
    this.#becomeReady();
    void this.#watch(run);
  }

  /** Asks it to stop, kills it when the grace time is over, and resolves when it is gone. */
  async stop(signal = this.spec.stopSignal ?? 'SIGTERM'): Promise<void> {
    this.#halt.abort();
    const run = this.#run;
    if (this.state === 'stopped') return;
    if (run !== undefined && this.identity !== undefined) {
      // A server that is still starting may ignore a signal, and has no work. A service obeys signals, and may have work: in an
      // alarm it works, and waits for the broker nevertheless.
      const isDeaf = this.state === 'starting' && this.spec.role === 'server';
      const graceMs = isDeaf ? Math.min(this.spec.graceMs, this.#startingGraceMs) : this.spec.graceMs;
      this.state = 'stopping';
      signalQuietly(this.identity.pid, signal);
      if (!(await untilGone(this.identity, graceMs))) await this.#slay();
      await run.exited;
    }
    // One that never ran remains.
    if (this.spec.container !== undefined) await removeContainers([this.spec.container]);
    this.state = 'stopped';
    this.#notify({ kind: 'stopped', process: this });
  }

  /** Kills it without warning (`kill -9`) and resolves when it is gone. Where it is restarted it comes back by itself. */
  async kill(): Promise<void> {
    const run = this.#run;
    await this.#slay();
    await run?.exited;
  }

  /** Has it stand still (SIGSTOP), or go on (SIGCONT). */
  async signal(signal: 'SIGSTOP' | 'SIGCONT'): Promise<void> {
    const { container } = this.spec;
    if (container !== undefined) await signalContainer(container, signal);
    else if (this.identity !== undefined) signalQuietly(this.identity.pid, signal);
  }

  async restart(): Promise<void> {
    await this.stop();
    await this.start();
  }

  async #slay(): Promise<void> {
    const { identity, spec } = this;
    if (identity === undefined) return;
    // First: its process ends with it, and one that is started again makes a container of the same name.
    if (spec.container !== undefined) await removeContainers([spec.container]);
    if (this.identity === identity) signalQuietly(identity.pid, 'SIGKILL');
  }

  #spawn(): ProcessRun {
    const { command, args, env, cwd, user, logFile } = this.spec;
    const log = openSync(logFile, 'a', 0o600);
    const child = spawn(command, args, { env, cwd, ...user, detached: true, stdio: ['ignore', log, log] });
    closeSync(log);
    this.identity = child.pid === undefined ? undefined : identify(child.pid);
    const exited = new Promise<string>((resolve) => {
      child.once('error', (error) => resolve(`could not be started: ${error.message}`));
      child.once('exit', (code, signal) => {
        // Helpers that a killed server left in its group would hold its files and ports.
        if (child.pid !== undefined) signalQuietly(-child.pid, 'SIGKILL');
        resolve(signal === null ? `ended with exit code ${code}` : `was ended by ${signal}`);
      });
    });
    const run = { beganMs: Date.now(), exited };
    void this.#forget(run);
    this.#run = run;
    running.add(this);
    this.state = 'starting';
    this.#notify({ kind: 'spawned', process: this });
    return run;
  }

  async #forget(run: ProcessRun): Promise<void> {
    this.howItEnded = await run.exited;
    if (this.#run !== run) return;
    this.#run = undefined;
    this.identity = undefined;
    running.delete(this);
  }

  /** Undefined when ready, else the reason why it is not. */
  async #untilReady(run: ProcessRun): Promise<string | undefined> {
    const deadline = Date.now() + this.spec.readyMs;
    for (;;) {
      // Before the question: a process that stood still until the deadline has asked nothing since.
      const isLast = Date.now() > deadline;
      const waitsFor = await this.spec.waitsFor();
      // Asked after the answer: it may be another process on the same port that answered.
      if (this.#run !== run) return run.exited;
      if (waitsFor === undefined) return undefined;
      if (this.#halt.signal.aborted) return 'was stopped';
      const seconds = this.spec.readyMs / 1_000;
      if (isLast) return `was not ready after ${seconds} s (it waits for ${waitsFor})`;
      await pause(50);
    }
  }

  async #watch(firstRun: ProcessRun): Promise<void> {
    // The next start has one of its own, and may follow the stop at once.
    const { signal } = this.#halt;
    let run = firstRun;
    let failures = 0;
    for (;;) {
      const how = await run.exited;
      if (signal.aborted) return;
      failures = failuresInARow({ before: failures, ranMs: Date.now() - run.beganMs });
      const nextInMs = this.#restart === 'never' ? undefined : restartDelayMs(failures, this.#restart);
      this.state = nextInMs === undefined ? 'stopped' : 'restarting';
      this.#notify({ kind: 'exited', process: this, how, nextInMs });
      if (nextInMs === undefined) return;
      await pause(nextInMs, undefined, { signal }).catch(() => undefined);
      if (signal.aborted) return;
      this.restarts += 1;
      run = this.#spawn();
      void this.#announce(run);
    }
  }

  async #announce(run: ProcessRun): Promise<void> {
    // However long it takes: no caller waits for it.
    while (this.#run === run && !this.#halt.signal.aborted) {
      if ((await this.#untilReady(run)) === undefined) return this.#becomeReady();
    }
  }

  #becomeReady(): void {
    this.state = 'ready';
    this.#notify({ kind: 'ready', process: this });
  }
}

/** How often in a row the process has ended early, its latest run included. */
export function failuresInARow({ before, ranMs }: { before: number; ranMs: number }): number {
  return ranMs >= RESTART_BACKOFF.steadyMs ? 1 : before + 1;
}

/** The pause before the next start, after that many failures in a row. */
export function restartDelayMs(failures: number, restart: Exclude<RestartPolicy, 'never'>): number {
  const longestMs = restart === 'soon' ? SOON_MS : RESTART_BACKOFF.longestMs;
  return backoffMs({ firstMs: RESTART_BACKOFF.firstMs, longestMs }, Math.max(1, failures));
}

/** Starts once more where a process did not start, after `note`: another process may have got its port meanwhile. */
export async function onceMore<T>(note: (line: string) => unknown, start: () => Promise<T>): Promise<T> {
  try {
    return await start();
  } catch (error) {
    if (!(error instanceof StartFailed)) throw error;
    await note(error.message);
    return start();
  }
}

/** Throws where the server runs in a container: the caller needs its program, or its pid. */
export function requireProgram({ name, container }: ProcessSpec): void {
  if (container !== undefined)
    throw new Error(`this needs ${name} as a program, and it runs in a container here: install ${name} first`);
}

/** Explains a failure to a person: the message and, if a process did not start, the end of its log. */
export function explainFailure(error: unknown): string {
  const message = error instanceof Error ? error.message : String(error);
  if (!(error instanceof StartFailed)) return message;
  const lines = lastLines(error.logFile);
  const end = lines.length === 0 ? 'It is empty.' : `It ends:\n${lines.map((line) => `  | ${line}`).join('\n')}`;
  return `${message}. Read ${error.logFile}. ${end}`;
}

function lastLines(file: string): string[] {
  if (!existsSync(file)) return [];
  const text = readFileSync(file, 'utf8').trim();
  return text === '' ? [] : text.split('\n').slice(-SHOWN_LINES);
}
