import { appendFileSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll } from '@jest/globals';
import { nothingLeftBehind } from '../testing/left-behind.ts';
import { copyCheckout } from './copy-checkout.ts';
import { Engine, type EngineNetwork } from './engine.ts';
import { build, makeStandIns } from './stand-ins.ts';

/** The one engine of all tests of Docker: there once tests run. */
export let engine: Engine;

export const folder = mkdtempSync(join(tmpdir(), 'waybell-docker-tests-'));
export const clone = join(folder, 'waybell');
export const REVISION = '0123456789abcdef0123456789abcdef01234567';
/** The image of a later version, beside `waybell`. */
export const NEXT_IMAGE = 'waybell:next';

beforeAll(async () => {
  copyCheckout(clone);
  // Only there packages are reached.
  engine = await Engine.start("machine's");
  if (engine.isPrivate) await makeStandIns(engine);
  await buildProduct('waybell', '1.2.3');
  appendFileSync(join(clone, 'services/deliverer/main.ts'), '// A later version.\n');
  await buildProduct(NEXT_IMAGE, '1.2.4');
  await moveEngine('own');
});

/** Closes the engine, with all that runs in it, and starts it in that network, with the same images. */
export async function moveEngine(network: EngineNetwork): Promise<void> {
  await engine[Symbol.asyncDispose]();
  engine = await Engine.start(network);
}

afterAll(async () => {
  await engine?.[Symbol.asyncDispose]();
  await nothingLeftBehind([folder]);
  rmSync(folder, { recursive: true });
});

async function buildProduct(name: string, version: string): Promise<void> {
  const told = { VERSION: version, REVISION, SOURCE: 'https://example.com/waybell' };
  const settings = Object.entries(told).flatMap(([key, value]) => ['--build-arg', `${key}=${value}`]);
  await build(engine, clone, ...settings, '--file', join(clone, 'deploy/Dockerfile'), '--tag', name);
}
