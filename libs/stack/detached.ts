import { spawn } from 'node:child_process';
import { closeSync, openSync } from 'node:fs';
import { join } from 'node:path';
import { setTimeout as pause } from 'node:timers/promises';
import { LogTail } from './log-tail.ts';
import { logFileOf, repository, type StackFolder } from './stack-folder.ts';
import { conditionOf } from './stack-state.ts';

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
