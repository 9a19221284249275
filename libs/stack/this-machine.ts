import { readdirSync, realpathSync } from 'node:fs';
import { dirname, join } from 'node:path';
import type { Machine, ServerName } from './choose-sources.ts';
import { engineTrouble } from './docker.ts';
import { firstExecutable, foldersOnPath, isExecutable } from './first-executable.ts';
import { installServers } from './install-servers.ts';
import { unpackedRabbitmq } from './unpacked-rabbitmq.ts';

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
