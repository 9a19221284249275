import { chownSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from './start-program.ts';
import { firstExecutable, foldersOnPath, installPackages, unprivilegedUser } from '@waybell/stack/programs';
import { freePort, hostAndPort } from '@waybell/stack/ports';
import { writePrivately } from '@waybell/stack/stack-folder';

export type Pgbouncer = AsyncDisposable & {
  /** An address of Postgres, as it is through the pooler. */
  through(url: string): string;
};

/** Debian's pgbouncer before that Postgres, as it is shipped, but with these lines of configuration. */
export async function startPgbouncer(postgres: string, configured: readonly string[]): Promise<Pgbouncer> {
  const { host, port: serverPort } = hostAndPort(postgres);
  const { username, password } = new URL(postgres);
  const port = await freePort({ taken: new Set() });
  const home = await mkdtemp(join(tmpdir(), 'waybell-pgbouncer-'));
  const file = join(home, 'pgbouncer.ini');
  const user = unprivilegedUser();
  const lines = [
    '[databases]',
    `* = host=${host} port=${serverPort} user=${decodeURIComponent(username)} password=${decodeURIComponent(password)}`,
    '[pgbouncer]',
    'listen_addr = 127.0.0.1',
    `listen_port = ${port}`,
    'unix_socket_dir =',
    // Whoever comes is the user above: it listens for this test only.
    'auth_type = any',
    ...configured,
    '',
  ];
  writePrivately(file, lines.join('\n'));
  if (user !== undefined) for (const path of [home, file]) chownSync(path, user.uid, user.gid);
  const pooler = await startProgram({
    name: 'pgbouncer',
    command: await binary(),
    args: [file],
    cwd: home,
    ...(user && { user }),
    port,
  });
  return {
    through: (url) => Object.assign(new URL(url), { host: `127.0.0.1:${port}` }).href,
    async [Symbol.asyncDispose]() {
      await pooler.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

async function binary(): Promise<string> {
  const find = () => firstExecutable('pgbouncer', [...foldersOnPath(), '/usr/sbin']);
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const found = find() ?? ((await installPackages(['pgbouncer'], report)) ? find() : undefined);
  if (found === undefined) throw new Error('this test needs pgbouncer, and cannot install it');
  return found;
}
