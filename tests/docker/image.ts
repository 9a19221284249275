import { execFileSync } from 'node:child_process';
import { existsSync, lstatSync, mkdirSync, readdirSync, readFileSync } from 'node:fs';
import { join } from 'node:path';
import { beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { services } from '@waybell/stack/services';
import { engine, folder, REVISION } from './stand.ts';

/** The engine's description of a container's start. */
type ImageConfig = {
  User: string;
  Env: string[];
  Entrypoint: string[];
  WorkingDir: string;
  Labels: Record<string, string>;
};

const MIB = 1024 * 1024;

export function image(): void {
  describe('the image', () => {
    const root = join(folder, 'image');
    let config: ImageConfig;
    /** Its files, by path from its root; links are none. */
    let files: string[];

    beforeAll(async () => {
      // The shape is the engine's.
      [config] = JSON.parse(await engine.docker('image', 'inspect', '--format', '[{{json .Config}}]', 'waybell')) as [
        ImageConfig,
      ];
      mkdirSync(root);
      const container = await engine.docker('create', 'waybell');
      await engine.inside('sh', ['-c', 'docker export "$1" | tar -C "$2" -x', 'sh', container, root]);
      await engine.docker('rm', container);
      const printed = ['-type', 'f', '-size', '+0', '-printf', '%P\n'];
      files = execFileSync('find', [root, ...printed], { encoding: 'utf8', maxBuffer: 2 ** 26 })
        .trim()
        .split('\n');
    });

    const beginningOf = (path: string) => readFileSync(join(root, path)).toString('latin1', 0, 4);

    test('has no program but Node.js, and no library but those it is linked to', () => {
      const native = files.filter((path) => beginningOf(path) === '\x7fELF');
      expect(native).toContain('usr/local/bin/node');
      expect(
        native.filter((path) => !/^(usr\/local\/bin\/node|(usr\/)?lib(64|\/[\w-]+)?\/[\w+.-]+\.so[.\d]*)$/.test(path)),
      ).toEqual([]);
      expect(['bin', 'sbin', 'usr/bin', 'usr/sbin'].filter((path) => existsSync(join(root, path)))).toEqual([]);
    });

    test('tells scanners which packages of Debian its libraries are of', () => {
      expect(readdirSync(join(root, 'var/lib/dpkg/status.d'))).toEqual(expect.arrayContaining(['libc6', 'libstdc++6']));
      expect(readFileSync(join(root, 'etc/os-release'), 'utf8')).toContain('ID=debian');
    });

    test('runs Node.js as a user without rights, named by a number', () => {
      expect(config).toMatchObject({ User: '1000:1000', Entrypoint: ['node'], WorkingDir: '/waybell' });
      const writable = files.filter((path) => {
        const { uid, gid, mode } = lstatSync(join(root, path));
        return uid !== 0 || gid !== 0 || (mode & 0o022) !== 0;
      });
      expect(writable).toEqual([]);
    });

    test('holds nothing that only tests or builds', () => {
      const packages = readdirSync(join(root, 'waybell/node_modules/.pnpm'));
      const isTool = /^(jest|typescript|vite|testcontainers|pnpm|npm|node-linux|@swc|@types|oxlint|react|playwright)/;
      expect(packages.length).toBeGreaterThan(100);
      expect(packages.filter((name) => isTool.test(name.replace('+', '/')))).toEqual([]);
      const own = files.filter((path) => path.startsWith('waybell/') && !path.includes('/node_modules/'));
      expect(own.filter((path) => /\.test\.ts$|\/testing\/|^waybell\/(tests|bench|docs|deploy)\//.test(path))).toEqual(
        [],
      );
      expect(own).toContain('waybell/apps/console/dist/index.html');
    });

    test('holds no secret, and says nowhere which registry it was made by', () => {
      const registry = new URL(execFileSync('npm', ['config', 'get', 'registry'], { encoding: 'utf8' }).trim());
      const own = files.filter((path) => !/\/node_modules\/\.pnpm\/[^/]+\/node_modules\//.test(path));
      const telling = own.filter((path) => /(^|\/)(\.npmrc|\.env|\.git|pnpm-lock\.yaml|\.modules\.yaml)$/.test(path));
      expect(telling).toEqual([]);
      const text = own.filter((path) => path.startsWith('waybell/') && beginningOf(path) !== '\x7fELF');
      expect(text.filter((path) => readFileSync(join(root, path), 'utf8').includes(registry.host))).toEqual([]);
      expect(JSON.stringify(config)).not.toContain(registry.host);
    });

    test('says what it is, of which commit, and under which licence', () => {
      const licence = readFileSync(join(root, 'waybell/LICENSE'), 'utf8');
      expect(licence).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
      expect(config.Labels).toMatchObject({
        'org.opencontainers.image.title': 'Waybell',
        'org.opencontainers.image.licenses': 'MIT',
        'org.opencontainers.image.version': '1.2.3',
        'org.opencontainers.image.revision': REVISION,
        'org.opencontainers.image.source': 'https://example.com/waybell',
      });
    });

    test('is no larger than 300 MiB', () => {
      const sizes = files.map((path) => lstatSync(join(root, path)).size);
      expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300 * MIB);
    });

    const run = (...args: string[]) => engine.docker('run', '--rm', '--read-only', '--network', 'none', ...args);

    test('refuses to write, and has no shell to run', async () => {
      const program =
        "try { fs.writeFileSync('x', '') } catch ({ code }) { console.log(process.getuid(), code) }; console.log(child_process.spawnSync('sh').error.code)";
      expect(await run('waybell', '--eval', program)).toBe('1000 EROFS\nENOENT');
    });

    test('runs as any other user too, one without a name', async () => {
      expect(await run('--user', '4321:0', 'waybell', 'cli/main.ts', 'permissions')).toContain('waybell-deliverer');
    });

    test.each(services)('starts $name from what V8 made of its files', async ({ name }) => {
      const options = ['--env', 'NODE_DEBUG_NATIVE=COMPILE_CACHE', 'waybell', `services/${name}/main.ts`];
      const said = await run(...options).catch((error: Error & { stdout?: string; stderr?: string }) => {
        return `${error.stdout}${error.stderr}`;
      });
      expect(said).toContain('The environment is not valid');
      expect(said).toContain(`V8 code cache for ESM file:///waybell/services/${name}/main.ts was accepted`);
      expect(said).not.toContain('was rejected');
    });
  });
}
