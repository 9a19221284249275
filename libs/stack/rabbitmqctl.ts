import { execFile } from 'node:child_process';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessSpec } from './supervised-process.ts';

/** Runs `rabbitmqctl` for a private node; resolves with what it prints. Rejects where it fails. */
export async function rabbitmqctl({ command, env }: ProcessSpec, ...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)(join(dirname(command), 'rabbitmqctl'), ['-q', ...args], { env });
  return stdout;
}
