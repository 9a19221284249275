import { execFileSync } from 'node:child_process';
import { mkdtempSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';

/**
 * Gives this process, and what it starts, a folder /etc of its own, and networks, all of whose addresses lead here without
 * being addresses of an interface: of those a deliverer calls none. `./waybell test` runs it in a network and with mounts
 * of its own. Throws where it is in those of the machine.
 */
export function ownSurroundings({ networks }: { networks: readonly string[] }): void {
  if (process.env['TEST_OWN_NETWORK'] === undefined)
    throw new Error('this test needs a network and a file system of its own: run ./waybell test surroundings');
  for (const network of networks)
    run('ip', network.includes(':') ? '-6' : '-4', 'route', 'add', 'local', network, 'dev', 'lo');
  const copy = mkdtempSync(join(tmpdir(), 'waybell-etc-'));
  run('cp', '-a', '/etc/.', copy);
  run('mount', '-t', 'tmpfs', '-o', 'mode=755', 'etc', '/etc');
  run('cp', '-a', `${copy}/.`, '/etc');
  rmSync(copy, { recursive: true });
}

/** Puts another file in its place at once, as Kubernetes and DHCP clients do. */
export function replaceFile(path: string, lines: readonly string[]): void {
  rmSync(`${path}.next`, { force: true });
  writeFileSync(`${path}.next`, `${lines.join('\n')}\n`);
  renameSync(`${path}.next`, path);
}

function run(command: string, ...args: string[]): void {
  execFileSync(command, args, { stdio: ['ignore', 'ignore', 'inherit'] });
}
