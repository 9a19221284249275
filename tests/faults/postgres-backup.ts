import { execFile } from 'node:child_process';
import { rm } from 'node:fs/promises';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';
import type { Stage } from './stage.ts';

/** Copies the files of Postgres as they are now, while it works; resolves with what stops it and has it begin there again. */
export async function backUpPostgres({ stack }: Pick<Stage, 'stack'>): Promise<() => Promise<void>> {
  const postgres = stack.stack.servers.process('postgres');
  const { command, args, env, cwd, user, address } = postgres.spec;
  const [data = '', backup] = [args[args.indexOf('-D') + 1], join(cwd, 'backup')];
  await rm(backup, { recursive: true, force: true });
  const how = ['--pgdata', backup, '--dbname', address, '--checkpoint=fast', '--no-sync'];
  await promisify(execFile)(join(dirname(command), 'pg_basebackup'), how, { env, cwd, ...user });
  return async () => {
    await postgres.stop();
    await rm(data, { recursive: true });
    await promisify(execFile)('cp', ['-a', backup, data]);
    await postgres.start();
  };
}
