import { chownSync, readFileSync } from 'node:fs';
import { mkdtemp, rm } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { startProgram } from './start-program.ts';
import { firstExecutable, foldersOnPath, installPackages, unprivilegedUser } from '@waybell/stack/programs';
import { freePort } from '@waybell/stack/ports';
import { writePrivately } from '@waybell/stack/stack-folder';

export type Nginx = AsyncDisposable & {
  /** On which its first `server` listens; the next listens on the next of `ports`, and so on. */
  ports: readonly number[];
  /** Rewrites a file, and makes nginx read it. */
  reload(file: string, content: string): void;
};

type Serving = {
  /** In its folder, by name. */
  files: Record<string, string>;
  /** Contents of `server` blocks, without `listen`. Files are named by `$folder/name`, ports of others by `$port0` and so on. */
  servers: readonly string[];
};

/** Debian's nginx, on ports of its own. */
export async function startNginx({ files, servers }: Serving): Promise<Nginx> {
  const taken = new Set<number>();
  const ports: number[] = [];
  while (ports.length < servers.length) {
    const port = await freePort({ taken });
    taken.add(port);
    ports.push(port);
  }
  const home = await mkdtemp(join(tmpdir(), 'waybell-nginx-'));
  const user = unprivilegedUser();
  const write = (name: string, content: string) => {
    writePrivately(join(home, name), content);
    if (user !== undefined) chownSync(join(home, name), user.uid, user.gid);
  };
  if (user !== undefined) chownSync(home, user.uid, user.gid);
  const blocks = servers.map((server, at) => `server { listen 127.0.0.1:${ports[at]} ${server} }`).join('\n');
  const written = blocks.replaceAll('$folder', home).replaceAll(/\$port(\d)/g, (_, at) => String(ports[Number(at)]));
  for (const [name, content] of Object.entries({ ...files, 'nginx.conf': settings(home, written) }))
    write(name, content);
  const process = await startProgram({
    name: 'nginx',
    command: await binary(),
    args: ['-p', home, '-c', join(home, 'nginx.conf'), '-e', join(home, 'error.log')],
    cwd: home,
    ...(user && { user }),
    port: ports[0] ?? 0,
  });
  return {
    ports,
    reload(file, content) {
      write(file, content);
      globalThis.process.kill(Number(readFileSync(join(home, 'pid'), 'utf8')), 'SIGHUP');
    },
    async [Symbol.asyncDispose]() {
      await process.stop();
      await rm(home, { recursive: true, force: true });
    },
  };
}

const settings = (home: string, servers: string) => `
daemon off;
worker_processes 1;
pid ${home}/pid;
events {}
http {
  access_log off;
  ${['client_body', 'proxy', 'fastcgi', 'uwsgi', 'scgi'].map((kind) => `${kind}_temp_path ${home}/${kind};`).join('\n  ')}
  ${servers}
}
`;

async function binary(): Promise<string> {
  const find = () => firstExecutable('nginx', [...foldersOnPath(), '/usr/sbin']);
  const report = (line: string) => process.stderr.write(`${line}\n`);
  const found = find() ?? ((await installPackages(['nginx-light'], report)) ? find() : undefined);
  if (found === undefined) throw new Error('this test needs nginx, and cannot install it');
  return found;
}
