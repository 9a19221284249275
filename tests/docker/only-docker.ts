import { mkdirSync } from 'node:fs';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { until } from '@waybell/runtime/testing/until';
import { buildConsole } from '@waybell/stack/build-console';
import { firstExecutable, foldersOnPath } from '@waybell/stack/programs';
import { repository } from '@waybell/stack/stack-folder';
import { engine } from './stand.ts';

const MACHINE = 'waybell-only-docker';
const NOBODY = 65_534;

/** `./waybell` by a user without rights, where Node.js and Docker are all that is installed. */
export function onlyDocker(): void {
  describe('./waybell where only Docker is there', () => {
    const onMachine = (...words: string[]) => engine.docker('exec', MACHINE, ...words);
    // Past the script, which would fetch a pnpm.
    const WAYBELL = ['node', 'cli/main.ts'];
    const waybell = (...args: string[]) => onMachine(...WAYBELL, ...args);
    /** Lists everything that exists in the engine. */
    const containers = async () => namesIn(await engine.docker('ps', '--all', '--format={{.Names}}')).filter(isOurs);
    const volumes = async () => namesIn(await engine.docker('volume', 'ls', '--quiet')).filter(isOurs);
    const statusHere = async () => JSON.parse(await waybell('status', '--json').catch(said)) as Status;
    const kill = (...pids: number[]) => onMachine('sh', '-c', 'kill -9 "$@"', 'sh', ...pids.map(String));

    beforeAll(async () => {
      // Nothing can be written there but what a checkout keeps.
      mkdirSync(join(repository, '.waybell'), { recursive: true });
      await buildConsole(() => undefined);
      await startMachine();
    });

    afterAll(async () => {
      await waybell('down', '--delete').catch(() => undefined);
      await engine.docker('rm', '--force', '--volumes', MACHINE);
    });

    let event = '';
    test('up shows real deliveries, on three containers that log in as private servers do', async () => {
      const shown = await waybell('up', '--detach');
      expect(shown).toMatch(/given up after 4 attempts[^]*Waybell is up/);
      [, event = ''] = /order\.delivered {2}event (\S+)/.exec(shown) ?? [];
      expect(await containers()).toHaveLength(3);
      const { processes, policies, troubles } = await statusHere();
      expect(processes.filter(({ state }) => state !== 'ready')).toEqual([]);
      expect({ policies, troubles }).toEqual({ policies: [], troubles: [] });
    });

    test('a container that is killed is started again, with its data', async () => {
      const [killed = ''] = (await containers()).filter((name) => name.endsWith('-postgres'));
      await engine.docker('kill', killed);
      await until('Postgres is back', async () => {
        const { processes } = await statusHere();
        return processes.some(
          ({ name, state, restarts }) => name === 'postgres' && state === 'ready' && restarts === 1,
        );
      });
      expect(await waybell('why', event)).toContain('given up after 4 attempts');
    });

    test('down leaves no container, also where what ran them was killed, and up finds the data again', async () => {
      await waybell('down');
      expect(await containers()).toEqual([]);
      await waybell('up', '--detach', '--no-demo');
      expect(await waybell('why', event)).toContain('given up after 4 attempts');
      const { supervisor, processes } = await statusHere();
      await kill(supervisor.pid, ...processes.flatMap(({ role, pid }) => (role === 'server' ? [pid] : [])));
      expect(await containers()).toHaveLength(3);
      await waybell('down');
      expect(await containers()).toEqual([]);
    });

    test('two stacks run beside each other, and what is deleted of one is its own', async () => {
      const second = (...args: string[]) => onMachine('env', 'WAYBELL_HOME=/tmp/second', ...WAYBELL, ...args);
      const before = await volumes();
      await Promise.all([waybell('up', '--detach', '--no-demo'), second('up', '--detach', '--no-demo')]);
      expect(await containers()).toHaveLength(6);
      await second('down', '--delete');
      expect(await containers()).toHaveLength(3);
      expect(await volumes()).toEqual(before);
      await waybell('down', '--delete');
      expect(await volumes()).toEqual([]);
    });

    test('up says what to do where the engine cannot fetch an image, or does not answer', async () => {
      const up = (...env: string[]) => onMachine('env', ...env, ...WAYBELL, 'up').catch(said);
      expect(await up('RABBITMQ_VERSION=0.0')).toMatch(/could not fetch rabbitmq:0\.0: .*docker load.*AMQP_URL/);
      expect(await up('DOCKER_HOST=unix:///tmp/none')).toMatch(
        /found no rabbitmq, no postgres, no redis[^]*now: .*unix:\/\/\/tmp\/none/,
      );
      expect(await containers()).toEqual([]);
    });

    const FILES = ['libs/stack/servers.test', 'libs/line/run-step', 'tests/by-hand/by-hand'];
    test('tests pass on containers, with servers that one of them breaks', async () => {
      expect(await waybell('test', ...FILES)).toMatch(/^[1-9]\d* passed, 0 failed$/m);
      expect(await containers()).toEqual([]);
      await until('the volumes are gone', async () => (await volumes()).length === 0);
    });

    test('a test run that is killed leaves no container and no volume', async () => {
      const run = ['sh', '-c', 'echo $$ >/tmp/run && exec "$@"', 'sh', ...WAYBELL, 'test', ...FILES];
      await engine.docker('exec', '--detach', MACHINE, ...run);
      await until('its servers run', async () => (await containers()).length >= 3);
      await kill(Number(await onMachine('cat', '/tmp/run')));
      const running = `cat /proc/[0-9]*/cmdline 2>/dev/null | tr '\\0' ' '`;
      await until('its tests are gone', async () => !(await onMachine('sh', '-c', running)).includes('jest.js'));
      await until('the containers are gone', async () => (await containers()).length === 0);
      await until('the volumes are gone', async () => (await volumes()).length === 0);
    });
  });
}

type Status = {
  supervisor: { pid: number };
  processes: { name: string; role: string; state: string; pid: number; restarts?: number }[];
  policies: unknown;
  troubles: unknown;
};

/** A container in the engine's network, with this checkout, and nobody's rights but those to the engine's socket. */
async function startMachine(): Promise<void> {
  const host = engine.environment['DOCKER_HOST'] ?? process.env['DOCKER_HOST'] ?? 'unix:///var/run/docker.sock';
  const socket = fileURLToPath(host.replace('unix:', 'file:'));
  const client = firstExecutable('docker', foldersOnPath());
  const isThere = 'stat --format=%g /var/run/docker.sock';
  const mounts = [`${socket}:/var/run/docker.sock`, `${client}:/usr/local/bin/docker:ro`, `${repository}:/waybell:ro`];
  const volumes = mounts.map((mount) => `--volume=${mount}`);
  const group = await engine.docker('run', '--rm', '--network=none', ...volumes, 'node:26-slim', ...isThere.split(' '));
  const rights = [`--user=${NOBODY}`, `--group-add=${group}`];
  const places = ['--tmpfs=/tmp:exec,mode=1777', `--tmpfs=/waybell/.waybell:exec,uid=${NOBODY}`, '--workdir=/waybell'];
  const settings = {
    HOME: '/tmp/home',
    NODE_COMPILE_CACHE: '/tmp/compiled',
    // The engine's path, for the reaper's container.
    TESTCONTAINERS_DOCKER_SOCKET_OVERRIDE: socket,
  };
  const env = Object.entries(settings).map(([name, value]) => `--env=${name}=${value}`);
  const options = [
    '--detach',
    '--init',
    `--name=${MACHINE}`,
    '--network=host',
    ...volumes,
    ...rights,
    ...places,
    ...env,
  ];
  await engine.docker('run', ...options, 'node:26-slim', 'sleep', 'infinity');
}

const isOurs = (name: string): boolean => /^waybell-[0-9a-f]{8}-/.test(name);

const namesIn = (text: string): string[] => text.split('\n').filter((name) => name !== '');

const said = (error: unknown): string => {
  // The form of execFile's error.
  const { stdout = '', message } = error as Error & { stdout?: string };
  return `${stdout}${message}`;
};
