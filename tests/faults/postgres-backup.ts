import { execFile } from 'node:child_process';
import { rename, rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { ProcessSpec } from '@waybell/stack/supervised-process';
import type { Stage } from './stage.ts';

/** Effects of a restore: the guids of deliveries that were waiting in Postgres when it was stopped. */
type GoneWithIt = { waiting: string[] };

/** Copies the files of Postgres as they are now, while it works; resolves with what stops it and has it begin there again. */
export async function backUpPostgres({ stack }: Pick<Stage, 'stack'>): Promise<() => Promise<GoneWithIt>> {
  const postgres = stack.stack.servers.process('postgres');
  const { command, args, env, cwd, user, address } = postgres.spec;
  const [data = '', backup, replaced] = [args[args.indexOf('-D') + 1], join(cwd, 'backup'), join(cwd, 'replaced')];
  await rm(backup, { recursive: true, force: true });
  const how = ['--pgdata', backup, '--dbname', address, '--checkpoint=fast', '--no-sync'];
  await promisify(execFile)(join(dirname(command), 'pg_basebackup'), how, { env, cwd, ...user });
  return async () => {
    await postgres.stop();
    await rename(data, replaced);
    await promisify(execFile)('cp', ['-a', backup, data]);
    await postgres.start();
    const waiting = await waitingIn(replaced, postgres.spec);
    await rm(replaced, { recursive: true });
    return { waiting };
  };
}

const GUID = /[0-9a-f]{8}(-[0-9a-f]{4}){3}-[0-9a-f]{12}/g;

/** Asks files of a Postgres that was stopped, by its single-user mode, which listens nowhere. */
async function waitingIn(data: string, { command, env, cwd, user }: ProcessSpec): Promise<string[]> {
  const asked = promisify(execFile)(command, ['--single', '-D', data, 'waybell'], { env, cwd, ...user });
  asked.child.stdin?.end('select id from waybell.deliverer_waiting\n');
  return (await asked).stdout.match(GUID) ?? [];
}
