import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { plainEnvironment } from '../testing/plain-environment.ts';
import type { TestStack } from '../testing/test-stack.ts';
import type { Planted } from './planted.ts';
import type { Saw } from './sightings.ts';

/** What `./waybell` says of a running system, and when it was told wrongly where that is. */
export async function runCommands(
  stack: TestStack,
  planted: Planted,
  { account, event }: { account: string; event: string },
): Promise<Saw[]> {
  const right = { AMQP_URL: stack.brokerUrl, DATABASE_URL: stack.stack.servers.url('postgres') };
  const secret = () => planted.plant('password of a wrong setting');
  const wrong = (address: string) => address.replace(/:[^:@/]*@/, `:${secret()}@`);
  const commands: [string, Record<string, string>][] = [
    [`token list --account ${account}`, right],
    [`audit --account ${account} --json`, right],
    [`why --event ${event} --json`, right],
    ['rejected list --json', right],
    ['audit', { DATABASE_URL: wrong(right.DATABASE_URL) }],
    ['audit', { DATABASE_URL: `postgres://me:${secret()}@[postgres/` }],
    ['rejected list', { AMQP_URL: wrong(right.AMQP_URL) }],
    ['rejected list', { AMQP_URL: `amqp://me:${secret()}@[rabbitmq/` }],
  ];
  return Promise.all(commands.map(([command, env]) => runCommand(command, env)));
}

async function runCommand(command: string, env: Record<string, string>): Promise<Saw> {
  const args = [join(repository, 'cli/main.ts'), ...command.split(' ')];
  return new Promise((resolve) => {
    execFile(
      process.execPath,
      args,
      { env: { ...plainEnvironment(), LOG_LEVEL: 'debug', ...env } },
      (_error, stdout, stderr) => resolve({ channel: 'command', place: command, text: stdout + stderr }),
    );
  });
}
