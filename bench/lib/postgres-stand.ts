import { execFileSync } from 'node:child_process';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import pg from 'pg';
import { prepareDatabase } from '@waybell/stack/prepare';
import { beginServers } from '@waybell/stack/servers';
import { requireProgram } from '@waybell/stack/supervised-process';

/** A Postgres of its own with the product's tables, and nothing else. */
export type PostgresStand = AsyncDisposable & {
  url: string;
  /** A connection of the tables' owner. */
  postgres: pg.Pool;
  /** To ask what it has used. */
  pid(): number;
  /** Restarts it with an empty cache: its own and the kernel's. */
  chill(): Promise<void>;
};

const homes = new Set<string>();
process.once('exit', () => {
  for (const home of homes) rmSync(home, { recursive: true, force: true });
});

export async function startPostgresStand(): Promise<PostgresStand> {
  const home = mkdtempSync(join(tmpdir(), 'waybell-bench-'));
  homes.add(home);
  const { PATH = '', HOME = '' } = process.env;
  const servers = await beginServers({ home, env: { PATH, HOME }, only: ['postgres'] });
  await servers.ready('postgres');
  const url = servers.url('postgres');
  await prepareDatabase({ url });
  const server = servers.process('postgres');
  // Compiling takes longer than what it saves.
  const postgres = new pg.Pool({ connectionString: url, max: 4, options: '-c jit=off' });
  postgres.on('error', () => undefined);
  return {
    url,
    postgres,
    pid() {
      requireProgram(server.spec);
      if (server.identity === undefined) throw new Error('Postgres does not run');
      return server.identity.pid;
    },
    async chill() {
      await postgres.query('checkpoint');
      await server.stop();
      // Drops the cached pages of a file; a count of 0 means all of them.
      const forgetFiles = ['-type', 'f', '-exec', 'dd', 'if={}', 'iflag=nocache', 'count=0', 'status=none', ';'];
      execFileSync('find', [join(home, 'postgres', 'data', 'base'), ...forgetFiles]);
      await server.start();
    },
    async [Symbol.asyncDispose]() {
      await postgres.end();
      await servers.stop();
      rmSync(home, { recursive: true, force: true });
      homes.delete(home);
    },
  };
}
