import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { plainEnvironment } from '@waybell/cli/testing/plain-environment';

/** A command that runs until it is told to stop. */
export type Running = AsyncDisposable & {
  /** Returns its output so far. */
  stdout(): string;
  stderr(): string;
  /** Gives it the signal and resolves with the code that it ends with; null where the signal ended it. */
  stop(signal: NodeJS.Signals): Promise<number | null>;
};

/** Starts `./waybell …` with these variables and no other setting. Disposed of, it is killed. */
export function startWaybell(args: string[], env: Record<string, string>): Running {
  const command = [join(repository, 'cli', 'main.ts'), ...args];
  const child = spawn(process.execPath, command, { env: { ...plainEnvironment(), ...env }, stdio: 'pipe' });
  const said = { stdout: '', stderr: '' };
  for (const name of ['stdout', 'stderr'] as const)
    child[name].setEncoding('utf8').on('data', (text: string) => (said[name] += text));
  const exited = once(child, 'exit');
  const stop = async (signal: NodeJS.Signals) => {
    child.kill(signal);
    await exited;
    return child.exitCode;
  };
  return {
    stdout: () => said.stdout,
    stderr: () => said.stderr,
    stop,
    [Symbol.asyncDispose]: async () => void (await stop('SIGKILL')),
  };
}
