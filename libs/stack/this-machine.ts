import { readdirSync, realpathSync, existsSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine, ServerName } from './choose-sources.ts';
import { engineTrouble } from './docker.ts';
import { firstExecutable, foldersOnPath, isExecutable, installPackages, runAsRoot } from './programs.ts';
import { cacheFolder } from './stack-folder.ts';

/**
 * The machine that this process runs on. `report` gets the names of packages being installed. RABBITMQ_VERSION asks for a
 * RabbitMQ other than the machine's own.
 */
export function thisMachine(report: (line: string) => void): Machine {
  const version = process.env['RABBITMQ_VERSION'];
  const unpacked = version ? unpackedRabbitmq(version) : undefined;
  const finders = unpacked === undefined ? FINDERS : { ...FINDERS, rabbitmq: unpacked.binary };
  return {
    findBinary: (name) => finders[name](),
    engineTrouble,
    async install(names) {
      if (unpacked === undefined || !names.includes('rabbitmq')) return installServers(names, report);
      const others = names.filter((name) => name !== 'rabbitmq');
      return (await unpacked.unpack(report)) && (others.length === 0 || installServers(others, report));
    },
  };
}

const FINDERS: Record<ServerName, () => string | undefined> = {
  rabbitmq: () =>
    // Debian's own on the path is a wrapper that runs the machine's broker as another user.
    firstExecutable('rabbitmq-server', [
      '/usr/lib/rabbitmq/bin',
      ...foldersOnPath(),
      '/usr/local/sbin',
      '/opt/homebrew/sbin',
    ]),
  postgres: () => {
    const found = firstExecutable('postgres', [
      ...newestFirst('/usr/lib/postgresql', 'bin'),
      ...foldersOnPath(),
      ...newestFirst('/opt/homebrew/opt', 'bin', 'postgresql'),
    ]);
    // A link on the path may lead to the folder that has initdb.
    const binary = found === undefined ? undefined : realpathSync(found);
    return binary !== undefined && isExecutable(join(dirname(binary), 'initdb')) ? binary : undefined;
  },
  redis: () => firstExecutable('redis-server', foldersOnPath()),
};

/** `<parent>/<version>/<child>` for every version, the newest first. */
function newestFirst(parent: string, child: string, beginning = ''): string[] {
  try {
    const versions = readdirSync(parent).filter((name) => name.startsWith(beginning));
    const order = new Intl.Collator('en', { numeric: true });
    return versions.toSorted((left, right) => order.compare(right, left)).map((name) => join(parent, name, child));
  } catch {
    return [];
  }
}

const PACKAGES: Record<ServerName, string> = {
  rabbitmq: 'rabbitmq-server',
  postgres: 'postgresql',
  redis: 'redis-server',
};

/** Installs their packages. False where that is not possible. */
async function installServers(names: ServerName[], report: (line: string) => void): Promise<boolean> {
  return installPackages(
    names.map((name) => PACKAGES[name]),
    report,
  );
}

/** Debian's releases that have a RabbitMQ other than the machine's own, by its version. */
const RELEASES: Record<string, string> = { '4.0': 'trixie', '4.3': 'forky' };

/**
 * Runs the program of its own name with the unpacked release's /usr in place of the machine's. It alone sees that: the
 * mount belongs to its own namespace and ends with its last process, however it ends. No shell stays between, so that
 * the pid and the signals are the program's own.
 */
const LAUNCH = `#!/bin/sh
exec unshare --mount sh -c 'mount --bind "$1/usr" /usr && PATH=/usr/lib/rabbitmq/bin:$PATH && shift && exec "$@"' \\
  sh "$(dirname "$(dirname "$0")")" "$(basename "$0")" "$@"
`;

/**
 * Arguments: folder, release, launcher, version. One at a time, and the folder appears only when all is in it. The mirror
 * is the one that the machine's own packages come from. A release that is not out yet changes its versions, and has no
 * script in an older debootstrap: sid's is that of all.
 */
const UNPACK = `
set -e
exec 9>"$1.lock"
flock 9
link() { for program in rabbitmqctl rabbitmq-queues epmd; do ln -sf rabbitmq-server "$1/launch/$program"; done; }
[ ! -e "$1" ] || { link "$1"; exit 0; }
export DEBIAN_FRONTEND=noninteractive
apt-get update -q
command -v debootstrap >/dev/null || apt-get install -q -y --no-install-recommends debootstrap
mirror=$(apt-get indextargets --format '$(REPO_URI)' 'Identifier: Packages' 'Origin: Debian' 'Label: Debian' | head -n 1)
[ -n "$mirror" ] || { echo 'the machine has no mirror of Debian among its package sources' >&2; exit 1; }
rm -rf --one-file-system "$1.draft"
unshare --mount debootstrap --variant=minbase --include=rabbitmq-server "$2" "$1.draft" "$mirror" /usr/share/debootstrap/scripts/sid
ls "$1.draft/usr/lib/rabbitmq/lib" | grep "^rabbitmq_server-$4[.]" || { echo "Debian $2 has another RabbitMQ than $4" >&2; exit 1; }
rm -rf "$1.draft"/var/cache/apt/archives/*.deb
mkdir "$1.draft/launch"
printf '%s' "$3" >"$1.draft/launch/rabbitmq-server"
chmod 755 "$1.draft/launch/rabbitmq-server"
link "$1.draft"
mv "$1.draft" "$1"
`;

/** RabbitMQ of that version, in addition to the machine's own. `binary` is undefined until it is unpacked. */
function unpackedRabbitmq(version: string) {
  const release = RELEASES[version];
  const folder = join(cacheFolder(), `rabbitmq-${version}`);
  const launch = join(folder, 'launch');
  return {
    // A folder that was unpacked before its last program was needed gets a link to that.
    binary: () => (existsSync(join(launch, 'rabbitmq-queues')) ? join(launch, 'rabbitmq-server') : undefined),
    /** Unpacks it from Debian's packages. Throws where that can never work; false where it failed. */
    async unpack(report: (line: string) => void): Promise<boolean> {
      if (release === undefined)
        throw new Error(`RABBITMQ_VERSION=${version} is not known here, only ${Object.keys(RELEASES).join(', ')}`);
      if (process.getuid?.() !== 0 || !existsSync('/usr/bin/apt-get'))
        throw new Error(
          `RABBITMQ_VERSION=${version} needs root on a Debian, to unpack and to run it; or a Docker engine`,
        );
      const title = `unpacking RabbitMQ ${version} of Debian ${release}, once, to ${folder}`;
      return runAsRoot({ script: UNPACK, args: [folder, release, LAUNCH, version], title, report });
    },
  };
}
