import { execFile, spawn, spawnSync, type ChildProcess } from 'node:child_process';
import { once } from 'node:events';
import { closeSync, existsSync, mkdirSync, mkdtempSync, openSync, readFileSync, rmSync, symlinkSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { until } from '@waybell/runtime/testing/until';
import { cacheFolder } from '@waybell/stack/stack-folder';
import { installPackages } from '@waybell/stack/programs';
import { goProgram } from '../testing/go-program.ts';

/** Plugins of the client, which Debian does not have. */
const PLUGINS = {
  // Later ones need a later Go.
  'docker-compose': {
    module: 'github.com/docker/compose/v5',
    version: 'v5.6.0',
    path: 'cmd',
    stamped: 'github.com/docker/compose/v5/internal.Version',
  },
  'docker-buildx': {
    module: 'github.com/docker/buildx',
    version: 'v0.38.2',
    path: 'cmd/buildx',
    stamped: 'github.com/docker/buildx/version.Version',
  },
};

/**
 * Arguments: the folder of the images, `--net` or nothing, whether it forwards, its first bridge, a folder of its own. Runs the
 * engine in processes, mounts and, where asked, a network of its own: containers, mounts and bridges end with it, and it ends
 * with who started it. One engine at a time has the folder, of which nothing is kept but images: containers of one that was
 * killed would be started again.
 */
const LAUNCH = `
exec setpriv --pdeathsig KILL flock --no-fork "$1.lock" unshare --mount --pid --fork --kill-child=TERM --mount-proc $2 sh -c '
  rm -rf "$1/containers" "$1/volumes" "$1/network"
  [ "$2" = "" ] || ip link set lo up || exit 1
  exec tini -s -- dockerd --iptables=false --ip6tables=false --ip-forward=$3 --bridge=$4 \\
    --storage-driver=overlay2 --data-root "$1" --exec-root "$5/exec" --pidfile "$5/pid" --host "unix://$5/docker.sock"
' sh "$@"
`;

export type EngineNetwork = 'own' | "machine's";
export type Inside = { cwd?: string; env?: NodeJS.ProcessEnv; input?: string };

/** A Docker engine, and the client with compose and buildx. Closing a private one ends all that runs in it. */
export class Engine implements AsyncDisposable {
  readonly #folder: string;
  readonly #process: ChildProcess | undefined;
  /** Whether it was started here: it then has no images but those that were made here, and reaches no registry of images. */
  readonly isPrivate: boolean;

  private constructor(folder: string, process?: ChildProcess) {
    this.#folder = folder;
    this.#process = process;
    this.isPrivate = process !== undefined;
  }

  /**
   * The engine that answers here already; else a private one, of Debian's packages. That has the machine's network, in which
   * builds reach registries of packages, or one of its own, in which nothing but containers is reached. Rejects where
   * neither is possible.
   */
  static async start(network: EngineNetwork): Promise<Engine> {
    const folder = mkdtempSync(join(tmpdir(), 'waybell-docker-'));
    mkdirSync(join(folder, 'cli-plugins'));
    for (const [name, plugin] of Object.entries(PLUGINS))
      symlinkSync(await goProgram(plugin), join(folder, 'cli-plugins', name));
    if (spawnSync('docker', ['info'], { stdio: 'ignore' }).status === 0) return new Engine(folder);
    await installEngine();
    const images = join(cacheFolder(), 'docker');
    const how = network === 'own' ? ['--net', 'true', ''] : ['', 'false', 'none'];
    const log = openSync(join(folder, 'log'), 'a');
    const started = spawn('sh', ['-c', LAUNCH, 'sh', images, ...how, folder], { stdio: ['ignore', log, log] });
    closeSync(log);
    const engine = new Engine(folder, started);
    await until('the engine answers', async () => started.exitCode !== null || engine.docker('info'));
    if (started.exitCode !== null) throw new Error(`the engine ended:\n${readFileSync(join(folder, 'log'), 'utf8')}`);
    return engine;
  }

  /** Runs the client; resolves with what it prints. Rejects, with what it complains of, where it fails. */
  async docker(...args: string[]): Promise<string> {
    return this.inside('docker', args);
  }

  /** Runs a program where published ports are on 127.0.0.1; resolves with what it prints. Rejects where it fails. */
  async inside(program: string, args: string[], { input, env, cwd }: Inside = {}): Promise<string> {
    const [command = '', ...words] = [...this.entering, program, ...args];
    const running = promisify(execFile)(command, words, {
      cwd,
      env: { ...process.env, ...this.environment, ...env },
      maxBuffer: 2 ** 26,
    });
    running.child.stdin?.on('error', () => undefined);
    running.child.stdin?.end(input ?? '');
    return (await running).stdout.trim();
  }

  /** Words of the command that enters the engine's network; none if it is the machine's. */
  get entering(): string[] {
    return this.isPrivate ? ['nsenter', `--net=/proc/${this.#first}/ns/net`] : [];
  }

  /** The first process of a private engine's own; before that has begun, the one that begins it. */
  get #first(): number {
    const pid = this.#process?.pid ?? process.pid;
    const children = readFileSync(`/proc/${pid}/task/${pid}/children`, 'utf8').trim();
    return Number(children) || pid;
  }

  /** Variables by which any client finds it. */
  get environment(): Record<string, string> {
    return {
      DOCKER_CONFIG: this.#folder,
      ...(this.isPrivate && { DOCKER_HOST: `unix://${this.#folder}/docker.sock` }),
    };
  }

  async [Symbol.asyncDispose](): Promise<void> {
    if (this.#process?.exitCode === null) {
      const containers = (await this.docker('ps', '--all', '--quiet')).split('\n').filter(Boolean);
      if (containers.length > 0) await this.docker('rm', '--force', '--volumes', ...containers);
      // unshare itself ignores signals while it waits.
      process.kill(this.#first, 'SIGTERM');
      await once(this.#process, 'exit');
    }
    rmSync(this.#folder, { recursive: true, force: true });
  }
}

async function installEngine(): Promise<void> {
  const isThere = (name: string) => ['/usr/sbin', '/usr/bin'].some((folder) => existsSync(join(folder, name)));
  if (isThere('dockerd') && isThere('tini') && isThere('ip')) return;
  const notes: string[] = [];
  if (!(await installPackages(['docker.io', 'iproute2'], (line) => void notes.push(line))))
    throw new Error(`no Docker engine answers, and none can be installed:\n${notes.join('\n')}`);
}
