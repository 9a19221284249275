import type { ServerName } from './choose-sources.ts';
import { installPackages } from './install-packages.ts';

const PACKAGES: Record<ServerName, string> = {
  rabbitmq: 'rabbitmq-server',
  postgres: 'postgresql',
  redis: 'redis-server',
};

/** Installs their packages. False where that is not possible. */
export async function installServers(names: ServerName[], report: (line: string) => void): Promise<boolean> {
  return installPackages(
    names.map((name) => PACKAGES[name]),
    report,
  );
}
