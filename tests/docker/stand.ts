import { execFileSync } from 'node:child_process';
import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { repository } from '@waybell/stack/stack-folder';
import { nothingLeftBehind } from '../testing/left-behind.ts';
import { Engine } from './engine.ts';
import { build, makeStandIns } from './stand-ins.ts';

/** The one engine of all tests of Docker: there once tests run. */
export let engine: Engine;

export const folder = mkdtempSync(join(tmpdir(), 'waybell-docker-tests-'));
/** The checkout as git would clone it, with what is not committed yet. */
export const clone = join(folder, 'waybell');
export const REVISION = '0123456789abcdef0123456789abcdef01234567';
/** The image of a later version, beside `waybell`. */
export const NEXT_IMAGE = 'waybell:next';

beforeAll(async () => {
  const files = execFileSync('git', ['ls-files', '-z', '--cached', '--others', '--exclude-standard'], {
    cwd: repository,
  });
  const copy = 'mkdir "$1" && tar -c --null --files-from - --ignore-failed-read | tar -C "$1" -x';
  execFileSync('sh', ['-c', copy, 'sh', clone], { cwd: repository, input: files, stdio: ['pipe', 'ignore', 'ignore'] });
  {
    // Only there packages are reached.
    await using builder = await Engine.start("machine's");
    if (builder.isPrivate) await makeStandIns(builder);
    await buildProduct(builder, 'waybell', '1.2.3');
    appendFileSync(join(clone, 'services/deliverer/main.ts'), '// A later version.\n');
    await buildProduct(builder, NEXT_IMAGE, '1.2.4');
  }
  engine = await Engine.start('own');
});

afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
  await nothingLeftBehind([folder]);
  rmSync(folder, { recursive: true });
});

async function buildProduct(builder: Engine, name: string, version: string): Promise<void> {
  const told = { VERSION: version, REVISION, SOURCE: 'https://example.com/waybell' };
  const settings = Object.entries(told).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  await build(builder, clone, ...settings, '--file', join(clone, 'deploy/Dockerfile'), '--tag', name);
}
