import { withConstants } from '@waybell/runtime/gone-settings';
import { rmSync } from 'node:fs';
import { mkdtemp } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { SERVER_NAMES } from '@waybell/stack/choose-sources';
import { startStack, type Stack } from '@waybell/stack/stack';
import { stackFolder } from '@waybell/stack/stack-folder';
import { readRecord } from '@waybell/stack/stack-record';
import type { PublisherCommands } from '../parts/publisher.ts';
import type { ReceiverCommands } from '../parts/receiver.ts';
import type { Parts } from './processes.ts';
import { startPart, type BenchPart } from './part.ts';
import { seed } from './seed.ts';
import type { Group } from './workload.ts';

/** A whole system of its own to measure, with its receiver and its upstream, each a process. */
export type Stand = AsyncDisposable & {
  stack: Stack;
  postgres: pg.Pool;
  receiver: BenchPart<ReceiverCommands>;
  publisher: BenchPart<PublisherCommands>;
  /** Subscribes the group; number n is called at `<path>/<n>` of 127.0.0.1, or of the address that `hostOf` says. */
  seed(group: Group, path: string, hostOf?: (n: number) => string): Promise<void>;
  /** Servers, receiver and publisher; contenders add theirs. */
  parts: Parts;
};

const homes = new Set<string>();
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

/** Starts everything as `./waybell up` would, with the settings as shipped where `settings` says nothing else. */
export async function startStand(settings: Record<string, string> = {}): Promise<Stand> {
  const home = await mkdtemp(join(tmpdir(), 'waybell-bench-'));
  homes.add(home);
  const { PATH = '', HOME = '' } = process.env;
  const stack = await startStack({ home, env: { PATH, HOME, ...withConstants(settings) } });
  const receiver = startPart<ReceiverCommands>('parts/receiver.ts');
  const publisher = startPart<PublisherCommands>('parts/publisher.ts');
  const port = await receiver.call('listen');
  const postgres = new pg.Pool({ connectionString: stack.servers.url('postgres'), max: 2 });
  postgres.on('error', () => undefined);
  const { secretKeys } = readRecord(stackFolder(home));
  return {
    stack,
    postgres,
    receiver,
    publisher,
    parts: { ...serverParts(stack), receiver: [receiver.pid], publisher: [publisher.pid] },
    seed: (group, path, hostOf = () => '127.0.0.1') =>
      seed(postgres, secretKeys, { ...group, callbackUrl: (n) => `http://${hostOf(n)}:${port}${path}/${n}` }),
    async [Symbol.asyncDispose]() {
      await Promise.all([publisher.stop(), receiver.stop(), postgres.end(), stack.stop()]);
      rmSync(home, { recursive: true, force: true });
      homes.delete(home);
    },
  };
}

/** Servers that run here; those elsewhere or in containers have no pid to ask. */
function serverParts({ servers }: Stack): Parts {
  return Object.fromEntries(
    SERVER_NAMES.flatMap((name) => {
      const pid = servers.processes.find(({ spec }) => spec.name === name && spec.container === undefined)?.identity
        ?.pid;
      return pid === undefined ? [] : [[name, [pid]]];
    }),
  );
}
