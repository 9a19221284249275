import { fork, type ChildProcess } from 'node:child_process';
import { join } from 'node:path';

/** A part of a benchmark runs in a process of its own, so that its CPU is counted for itself. */

type Commands = Record<string, (argument: never) => unknown>;
type PartCall = { id: number; command: string; argument: unknown };
type Reply = { id: number; result?: unknown; failure?: string };

export type BenchPart<C extends Commands> = {
  pid: number;
  /** Runs a command in the part's process. Rejects with what it threw there, or when the process ends before. */
  call<K extends keyof C & string>(
    command: K,
    ...argument: Parameters<C[K]> extends [] ? [] : [Parameters<C[K]>[0]]
  ): Promise<Awaited<ReturnType<C[K]>>>;
  stop(): Promise<void>;
};

const bench = join(import.meta.dirname, '..');

/** Starts `file` (its path under bench/) as a process that answers the commands it serves. */
export function startPart<C extends Commands>(file: string, env: Record<string, string> = {}): BenchPart<C> {
  const child = fork(join(bench, file), {
    env: { ...process.env, ...env },
    stdio: ['ignore', 'inherit', 'inherit', 'ipc'],
    // JSON would lose NaN.
    serialization: 'advanced',
  });
  const unanswered = new Map<number, PromiseWithResolvers<unknown>>();
  let last = 0;
  child.on('message', ({ id, result, failure }: Reply) => {
    const call = unanswered.get(id);
    unanswered.delete(id);
    if (failure === undefined) call?.resolve(result);
    else call?.reject(new Error(`${file}: ${failure}`));
  });
  let end: Error | undefined;
  const ended = (how: string) => {
    end ??= new Error(`${file} ${how}`);
    for (const { reject } of unanswered.values()) reject(end);
  };
  child.on('exit', (code, signal) => ended(`ended (${signal ?? code})`));
  child.on('error', ({ message }) => ended(`failed: ${message}`));
  if (child.pid === undefined) throw new Error(`${file} could not be started`);
  return {
    pid: child.pid,
    call(command, ...argument) {
      if (end !== undefined) return Promise.reject(end);
      last += 1;
      const call = Promise.withResolvers<unknown>();
      unanswered.set(last, call);
      child.send({ id: last, command, argument: argument[0] } satisfies PartCall);
      // A command resolves with the value that `serve` sent for it.
      return call.promise as never;
    },
    stop: () => stopped(child),
  };
}

/** Answers commands for as long as the starter of this process lives. */
export function serve(commands: Commands): void {
  process.on('disconnect', () => process.exit());
  process.on('message', ({ id, command, argument }: PartCall) => {
    void answer(commands, command, argument).then((reply) => process.send?.({ id, ...reply }));
  });
}

async function answer(commands: Commands, command: string, argument: unknown): Promise<Omit<Reply, 'id'>> {
  try {
    // `call` is typed by the same commands.
    return { result: await commands[command]?.(argument as never) };
  } catch (error) {
    return { failure: error instanceof Error ? (error.stack ?? error.message) : String(error) };
  }
}

async function stopped(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return;
  const gone = new Promise((resolve) => child.once('exit', resolve));
  child.disconnect();
  await gone;
}
