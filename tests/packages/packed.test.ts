import { readdir, readFile } from 'node:fs/promises';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { checkPackage, createPackageFromTarballData } from '@arethetypeswrong/core';
import { publint } from 'publint';
import { formatMessage } from 'publint/utils';
import { repository } from '@waybell/stack/stack-folder';
import { EmptyProject, pack } from './empty-project.ts';

const uses = join(repository, 'tests/packages/uses');

describe.each(['publisher', 'receiver'])('the package %s, as it would be published', (name) => {
  let project: EmptyProject;
  let archive: Buffer;

  beforeAll(async () => {
    project = await EmptyProject.make();
    const path = await pack(name, project.folder);
    archive = await readFile(path);
    await project.install(path, '@types/node');
  });
  afterAll(() => project[Symbol.asyncDispose]());

  test('has nothing that publint finds', async () => {
    const { messages, pkg } = await publint({
      pack: { tarball: archive.buffer.slice(archive.byteOffset, archive.byteOffset + archive.length) as ArrayBuffer },
    });
    expect(messages.map((message) => formatMessage(message, pkg))).toEqual([]);
  });

  test('has types that are right for each way to import it', async () => {
    const analysis = await checkPackage(createPackageFromTarballData(archive));
    expect(analysis.types && analysis.problems).toEqual([]);
  });

  test('holds what was built, and what people read', async () => {
    const held = await readdir(join(project.folder, 'node_modules/@waybell', name));
    expect(held.toSorted()).toEqual(['LICENSE', 'README.md', 'dist', 'package.json']);
  });

  test('has the version of the product, and names no package of this repository', async () => {
    const manifest = JSON.parse(
      await readFile(join(project.folder, 'node_modules/@waybell', name, 'package.json'), 'utf8'),
    );
    const product = JSON.parse(await readFile(join(repository, 'package.json'), 'utf8'));
    expect(manifest.version).toBe(product.version);
    expect(
      Object.keys({ ...manifest.dependencies, ...manifest.peerDependencies }).filter((each) =>
        each.startsWith('@waybell/'),
      ),
    ).toEqual([]);
  });

  test('is used from both kinds of modules, compiled by the strictest rules, and needs nothing that Node 20 lacks', async () => {
    const files = [`${name}.mts`, `${name}.cts`].map((file) => join(uses, file));
    expect(await project.compile(...files)).toBe('');
    const [inModule, inScript] = [await project.run(`${name}.mjs`), await project.run(`${name}.cjs`)];
    expect(inModule).toMatch(/^used /);
    expect(inScript).toBe(inModule);

    const env = { NODE_OPTIONS: `--require=${join(repository, 'tests/packages/as-node-20.cjs')}` };
    expect(await project.run(`${name}.mjs`, process.execPath, env)).toBe(inModule);
    expect(await project.run(`${name}.cjs`, process.execPath, env)).toBe(inModule);
  });
});
