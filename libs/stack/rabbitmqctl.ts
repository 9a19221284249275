import { execFile } from 'node:child_process';
import { existsSync, realpathSync } from 'node:fs';
import { dirname, join, delimiter } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessSpec } from './supervised-process.ts';

/** Runs `rabbitmqctl` for a private node; resolves with its output. Rejects if it fails. */
export const rabbitmqctl = (node: ProcessSpec, ...args: string[]): Promise<string> => run('rabbitmqctl', node, args);

/** The same of `rabbitmq-queues`. */
export const rabbitmqQueues = (node: ProcessSpec, ...args: string[]): Promise<string> =>
  run('rabbitmq-queues', node, args);

/** The same of `rabbitmq-plugins`. */
export const rabbitmqPlugins = (node: ProcessSpec, ...args: string[]): Promise<string> =>
  run('rabbitmq-plugins', node, args);

/**
 * Resolves with the value of an expression of Erlang (`1 + 1`, no period) in a private node. Rejects where that throws, or
 * the node is not reached. In milliseconds, where Erlang has `erl_call`: `rabbitmqctl` starts a node of its own, which takes a second.
 */
export async function evaluate(node: ProcessSpec, expression: string): Promise<string> {
  const program = node.container === undefined ? findInErlang('erl_call', node.command) : undefined;
  if (program === undefined) return (await rabbitmqctl(node, 'eval', `${expression}.`)).trim();
  const { env } = node;
  const called = promisify(execFile)(program, ['-r', '-e', '-address', `127.0.0.1:${env['RABBITMQ_DIST_PORT']}`], {
    env,
  });
  // The exit code reports a node that is not reached.
  called.child.stdin?.on('error', () => undefined);
  called.child.stdin?.end(`${expression}.\n`);
  const { stdout } = await called;
  const [, value] = /^\{ok, (.*)\}\s*$/s.exec(stdout) ?? [];
  if (value === undefined) throw new Error(`${expression}: ${stdout}`);
  return value;
}

async function run(program: string, { command, env, container }: ProcessSpec, args: string[]): Promise<string> {
  const [file = '', ...words] =
    container === undefined ? [join(dirname(command), program)] : ['docker', 'exec', container, program];
  const { stdout } = await promisify(execFile)(file, [...words, '-q', ...args], { env });
  return stdout;
}

/** Finds a program that comes with Erlang: next to the broker, on the path, or next to its `erl`. */
export function findInErlang(program: 'epmd' | 'erl_call', broker: string): string | undefined {
  const folders = [dirname(broker), ...(process.env['PATH'] ?? '').split(delimiter), '/usr/bin'];
  return folders
    .flatMap((folder) => [folder, ...besideErl(join(folder, 'erl'))])
    .map((folder) => join(folder, program))
    .find((path) => existsSync(path));
}

const besideErl = (erl: string): string[] => (existsSync(erl) ? [dirname(realpathSync(erl))] : []);
