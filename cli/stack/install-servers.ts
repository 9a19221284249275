import { spawn, spawnSync } from 'node:child_process';
import { existsSync } from 'node:fs';
import type { ServerName } from './choose-sources.ts';

const PACKAGES: Record<ServerName, string> = {
  rabbitmq: 'rabbitmq-server',
  postgres: 'postgresql',
  redis: 'redis-server',
};

/**
 * Installs Debian's packages without letting them start daemons: policy-rc.d forbids that for as long as apt runs, and
 * is taken away however the script ends. A policy that the machine has already is left alone.
 */
const INSTALL = `
set -e
policy=/usr/sbin/policy-rc.d
if [ ! -e "$policy" ] || grep -qs 'made by waybell' "$policy"; then
  trap 'rm -f "$policy"' EXIT
  trap 'exit 130' INT TERM HUP
  printf '#!/bin/sh\\n# made by waybell while it installs packages\\nexit 101\\n' >"$policy"
  chmod 755 "$policy"
fi
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
apt-get install -q -y --no-install-recommends "$@"
`;

/** Installs them from the distribution, as root or with passwordless sudo. False where that is not possible. */
export async function installServers(names: ServerName[], report: (line: string) => void): Promise<boolean> {
  if (!existsSync('/usr/bin/apt-get')) return false;
  const asRoot = process.getuid?.() === 0 ? [] : ['sudo', '-n'];
  if (asRoot.length > 0 && spawnSync('sudo', ['-n', 'true'], { stdio: 'ignore' }).status !== 0) return false;
  const packages = names.map((name) => PACKAGES[name]);
  report(`installing ${packages.join(', ')} with apt-get; their own daemons are not started`);
  const [command = '', ...args] = [...asRoot, 'sh', '-c', INSTALL, 'sh', ...packages];
  const beganMs = Date.now();
  const ticking = setInterval(
    () => report(`still installing (${Math.round((Date.now() - beganMs) / 1_000)} s)`),
    10_000,
  );
  const output: Buffer[] = [];
  const status = await new Promise((resolve) => {
    const child = spawn(command, args, { stdio: ['ignore', 'pipe', 'pipe'] });
    for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
    child.once('error', resolve);
    child.once('close', resolve);
  });
  clearInterval(ticking);
  if (status === 0) return true;
  report(`apt-get failed:\n${Buffer.concat(output).toString().trim().split('\n').slice(-15).join('\n')}`);
  return false;
}
