import { execFile, spawnSync } from 'node:child_process';
import { promisify } from 'node:util';

/** A label of all containers and their data, `name=value`: what removes those that a killed test run left knows them by it. */
export const CONTAINER_LABEL = 'WAYBELL_CONTAINER_LABEL';

/** Runs the client of the Docker engine; resolves with its output. */
export async function docker(...args: string[]): Promise<string> {
  const { stdout } = await promisify(execFile)('docker', args);
  return stdout;
}

/** Sends a signal to a container's first process; to one that does not run, none. */
export async function signalContainer(container: string, signal: NodeJS.Signals): Promise<void> {
  await docker('kill', `--signal=${signal}`, container).catch(() => undefined);
}

/** Kills containers and removes them; resolves when they are gone, and where there are none. */
export async function removeContainers(containers: string[]): Promise<void> {
  if (containers.length > 0) await docker('rm', '--force', '--volumes', ...containers).catch(() => undefined);
}

/** The same when there is no time to wait for anything else. */
export function removeContainersNow(containers: string[]): void {
  if (containers.length > 0)
    spawnSync('docker', ['rm', '--force', '--volumes', ...containers], { stdio: 'ignore', timeout: 20_000 });
}

/** Returns why containers cannot run here; undefined if they can, empty if no engine is installed. */
export function engineTrouble(): string | undefined {
  const { status, error, stdout, stderr } = spawnSync('docker', ['version', '--format', '{{.Server.Version}}'], {
    encoding: 'utf8',
    timeout: 10_000,
  });
  if (status === 0) return undefined;
  return error === undefined ? lastLine(stderr || stdout) : '';
}

export const lastLine = (text: string): string => text.trim().split('\n').at(-1) ?? '';
