import { chmodSync, existsSync, lstatSync, mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execFileSync } from 'node:child_process';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { anEvent } from '../testing/event.ts';
import { nothingLeftBehind } from '../testing/left-behind.ts';
import { Receiver } from '../testing/receiver.ts';
import { asEngineDoes, buildImage, REVISION, type Image } from './build-image.ts';
import { ComposedSystem } from './composed-system.ts';
import { runInImage } from './run-in-image.ts';

const folder = mkdtempSync(join(tmpdir(), 'waybell-image-'));
// Postgres runs as another user under root, and must get to its files.
chmodSync(folder, 0o711);
let image: Image;
/** Its files, by path from its root; links are none. */
let files: string[];

beforeAll(async () => {
  image = await buildImage(folder);
  // It follows no link.
  const found = execFileSync('find', [image.root, '-type', 'f', '-printf', '%P\n'], {
    encoding: 'utf8',
    maxBuffer: 2 ** 26,
  });
  files = found.trim().split('\n');
});

afterAll(async () => {
  await nothingLeftBehind([folder]);
  rmSync(folder, { recursive: true, force: true });
});

const MIB = 1024 * 1024;

const beginningOf = (path: string) => readFileSync(join(image.root, path)).toString('latin1', 0, 4);

describe('the image', () => {
  test('has no program but Node.js, and no library but those it is linked to', () => {
    const native = files.filter((path) => beginningOf(path) === '\x7fELF');
    expect(native).toContain('usr/local/bin/node');
    expect(
      native.filter((path) => !/^(usr\/local\/bin\/node|(usr\/)?lib(64|\/[\w-]+)?\/[\w+.-]+\.so[.\d]*)$/.test(path)),
    ).toEqual([]);
    expect(['bin', 'sbin', 'usr/bin', 'usr/sbin'].filter((path) => existsSync(join(image.root, path)))).toEqual([]);
  });

  test('tells scanners which packages of Debian its libraries are of', () => {
    expect(readdirSync(join(image.root, 'var/lib/dpkg/status.d'))).toEqual(
      expect.arrayContaining(['libc6', 'libstdc++6']),
    );
    expect(readFileSync(join(image.root, 'etc/os-release'), 'utf8')).toContain('ID=debian');
  });

  test('runs Node.js as a user without rights, named by a number', () => {
    expect(image.config).toMatchObject({ User: '1000:1000', Entrypoint: ['node'], WorkingDir: '/waybell' });
    const writable = files.filter((path) => {
      const { uid, gid, mode } = lstatSync(join(image.root, path));
      return uid !== 0 || gid !== 0 || (mode & 0o022) !== 0;
    });
    expect(writable).toEqual([]);
  });

  test('holds nothing that only tests or builds', () => {
    const packages = readdirSync(join(image.root, 'waybell/node_modules/.pnpm'));
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
    expect(text.filter((path) => readFileSync(join(image.root, path), 'utf8').includes(registry.host))).toEqual([]);
    expect(JSON.stringify(image.config)).not.toContain(registry.host);
  });

  test('says what it is, of which commit, and under which licence', () => {
    const licence = readFileSync(join(image.root, 'waybell/LICENSE'), 'utf8');
    expect(licence).toBe(readFileSync(join(repository, 'LICENSE'), 'utf8'));
    expect(image.config.Labels).toMatchObject({
      'org.opencontainers.image.title': 'Waybell',
      'org.opencontainers.image.licenses': 'MIT',
      'org.opencontainers.image.version': '1.2.3',
      'org.opencontainers.image.revision': REVISION,
      'org.opencontainers.image.source': 'https://example.com/waybell',
    });
  });

  test('is no larger than 300 MiB', () => {
    const sizes = files.map((path) => lstatSync(join(image.root, path)).size);
    expect(sizes.reduce((sum, size) => sum + size, 0)).toBeLessThan(300 * MIB);
  });
});

describe('docker-compose.yml in the image, on a file system that nothing can write to,', () => {
  let system: ComposedSystem;
  let apiPort: number;

  beforeAll(async () => {
    asEngineDoes(image);
    system = await ComposedSystem.prepare(image, folder);
    apiPort = await system.freePort();
  });

  afterAll(async () => {
    await system?.[Symbol.asyncDispose]();
  });

  test('refuses to write, and has no shell to run', async () => {
    const program =
      "try { fs.writeFileSync('x', '') } catch ({ code }) { console.log(process.getuid(), code) }; console.log(child_process.spawnSync('sh').error.code)";
    const { stdout } = await runInImage(image, { args: ['node', '--eval', program], env: {} });
    expect(stdout).toBe('1000 EROFS\nENOENT');
  });

  test('runs as any other user too, one without a name', async () => {
    const args = ['node', 'cli/main.ts', 'permissions'];
    expect(await runInImage(image, { args, env: {}, user: '4321:0' })).toMatchObject({ code: 0 });
  });

  test('migrates, lets the services log in, and declares', async () => {
    expect(await system.runOnce('migrate')).toMatchObject({ code: 0, stderr: expect.stringContaining('applied') });
    await system.runOnce('logins');
    expect(await system.runOnce('declare')).toMatchObject({ code: 0, stderr: expect.stringContaining('declared') });
  });

  test('starts each service from what V8 made of its files', async () => {
    expect(system.names).toHaveLength(6);
    for (const name of system.names) {
      const args = ['node', `services/${name}/main.ts`];
      const { stderr, stdout } = await runInImage(image, { args, env: { NODE_DEBUG_NATIVE: 'COMPILE_CACHE' } });
      const said = stdout + stderr;
      expect(said).toContain('The environment is not valid');
      expect(said).toContain(`V8 code cache for ESM file:///waybell/services/${name}/main.ts was accepted`);
      expect(said).not.toContain('was rejected');
    }
  });

  test('starts every service, three deliverers among them, each of which the health check finds well', async () => {
    const api = {
      HOST: '127.0.0.1',
      PORT: String(apiPort),
      ADMIN_HOST: '127.0.0.1',
      ADMIN_PORT: String(await system.freePort()),
    };
    const names = [...system.names, 'deliverer', 'deliverer'];
    const started = await Promise.all(names.map((name) => system.start(name, name === 'subscription-api' ? api : {})));
    const [, ...check] = image.config.Healthcheck.Test;
    const asked = (port: string) => runInImage(image, { args: check, env: { HEALTH_PORT: port } });
    for (const { spec } of started) {
      expect(await asked(new URL(spec.address).port)).toMatchObject({ code: 0 });
    }
    expect(await asked(String(await system.freePort()))).toMatchObject({ code: 1 });
  });

  test('delivers an event that was published, to who subscribed to it, by name', async () => {
    await using receiver = await Receiver.start();
    const { POSTGRES_PASSWORD = '', RABBITMQ_UPSTREAM_PASSWORD = '' } = system.variables;
    const owner = { DATABASE_URL: `postgres://waybell:${POSTGRES_PASSWORD}@postgres:5432/waybell` };
    const upstream = { AMQP_URL: `amqp://waybell-upstream:${RABBITMQ_UPSTREAM_PASSWORD}@rabbitmq:5672` };
    const { stdout: account } = await system.run(['cli/main.ts', 'account', 'create', '--interface', 'shipper'], owner);
    const { stdout: token } = await system.run(['cli/main.ts', 'token', 'create', '--account', account], owner);
    const answer = await fetch(`http://127.0.0.1:${apiPort}/v1/public/webhooks/order.paid/subscribe`, {
      method: 'POST',
      headers: { authorization: `Bearer ${token}`, 'content-type': 'application/json' },
      body: JSON.stringify({ callback_url: receiver.url('/paid').replace('127.0.0.1', 'localhost') }),
    });
    expect(answer.status).toBe(200);
    const event = anEvent({ interface: 'shipper', action: 'order.paid', parties: { shipper: account } });
    expect(await system.run(['cli/main.ts', 'publish'], upstream, JSON.stringify(event))).toMatchObject({ code: 0 });
    expect(await receiver.untilReceived('/paid', 1)).toHaveLength(1);
  });

  test('shows the console', async () => {
    const page = await fetch(`http://127.0.0.1:${apiPort}/console/`);
    expect([page.status, await page.text()]).toEqual([200, expect.stringContaining('<title>')]);
  });

  test('ends every service by itself when it is told to stop', async () => {
    expect(await system.stopServices()).toEqual(Array.from({ length: 8 }, () => 'ended with exit code 0'));
  });
});
