import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';
import { plainEnvironment } from './plain-environment.ts';
import type { Servers } from '@waybell/stack/servers';

type Ended = { code: number; stdout: string; stderr: string; bytes: Buffer };
type Stack = { brokerUrl: string; stack: { servers: Pick<Servers, 'url'> } };
type Addresses = { AMQP_URL: string; DATABASE_URL: string };
type Start = { input?: string; env?: Record<string, string> };

/** Runs `./waybell …` with the addresses of the stack in its environment, and `env` in front of them. */
export async function runWaybell(stack: Stack, args: string[], start: Start = {}): Promise<Ended> {
  return runWaybellOn({ AMQP_URL: stack.brokerUrl, DATABASE_URL: stack.stack.servers.url('postgres') }, args, start);
}

/** Runs `./waybell …` on these servers. */
export async function runWaybellOn(addresses: Addresses, args: string[], start: Start = {}): Promise<Ended> {
  const { input = '', env = {} } = start;
  return new Promise((resolve) => {
    const child = execFile(
      process.execPath,
      [join(repository, 'cli', 'main.ts'), ...args],
      { env: { ...plainEnvironment(), ...addresses, ...env }, encoding: 'buffer' },
      (_error, bytes, stderr) =>
        resolve({ code: child.exitCode ?? -1, stdout: bytes.toString(), stderr: stderr.toString(), bytes }),
    );
    child.stdin?.on('error', () => undefined);
    child.stdin?.end(input);
  });
}
