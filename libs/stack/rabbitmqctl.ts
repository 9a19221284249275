import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessSpec } from './supervised-process.ts';

/** Runs `rabbitmqctl` for a private node; resolves with what it prints. Rejects where it fails. */
export const rabbitmqctl = (node: ProcessSpec, ...args: string[]): Promise<string> => run('rabbitmqctl', node, args);

/** The same of `rabbitmq-queues`. */
export const rabbitmqQueues = (node: ProcessSpec, ...args: string[]): Promise<string> =>
  run('rabbitmq-queues', node, args);

async function run(program: string, { command, env }: ProcessSpec, args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(dirname(command), program), ['-q', ...args], { env });
  return stdout;
}
