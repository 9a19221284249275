import { execFile } from 'node:child_process';
import { cp, mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { runPnpm } from '@waybell/cli/dependencies';
import { repository } from '@waybell/stack/stack-folder';

const run = promisify(execFile);

/** The strictest options of a user: the types of packages are checked as well. */
const compilerOptions = {
  target: 'es2023',
  module: 'nodenext',
  types: ['node'],
  outDir: 'out',
  strict: true,
  exactOptionalPropertyTypes: true,
  noUncheckedIndexedAccess: true,
  skipLibCheck: false,
};

/**
 * Builds and packs a package of this repository as it would be published, for one test at a time. Resolves with the path of the
 * archive.
 */
export async function pack(name: string, into: string): Promise<string> {
  const args = ['--filter', `@waybell/${name}`, 'pack', '--json', '--pack-destination', into];
  const manifest = join('packages', name, 'package.json');
  const { stdout } = await run('flock', [manifest, 'pnpm', ...args], { cwd: repository });
  const { filename } = JSON.parse(stdout.slice(stdout.indexOf('{'))) as { filename: string };
  return join(into, basename(filename));
}

/** A project outside of this repository, which has what it installed and nothing else. */
export class EmptyProject implements AsyncDisposable {
  readonly folder: string;

  constructor(folder: string) {
    this.folder = folder;
  }

  static async make(): Promise<EmptyProject> {
    const folder = await mkdtemp(join(tmpdir(), 'waybell-project-'));
    await writeFile(join(folder, 'package.json'), '{ "name": "empty-project", "private": true }\n');
    await writeFile(join(folder, 'pnpm-workspace.yaml'), 'packages: []\n');
    await writeFile(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, include: ['*.mts', '*.cts'] }));
    return new EmptyProject(folder);
  }

  /** Archives, or packages by name and range. */
  async install(...packages: string[]): Promise<void> {
    const args = ['add', '--dir', this.folder, '--ignore-workspace', '--prefer-offline', ...packages];
    const { code, stdout, stderr } = await runPnpm(args);
    if (code !== 0) throw new Error(`cannot install ${packages.join(' ')}: ${stdout}${stderr}`);
  }

  /** Compiles the files, which it copies. Resolves with what the compiler said: nothing where all is well. */
  async compile(...files: string[]): Promise<string> {
    for (const file of files) await cp(file, join(this.folder, basename(file)));
    const tsc = join(repository, 'node_modules', '.bin', 'tsc');
    return run(tsc, ['-p', this.folder]).then(
      () => '',
      (error: Error & { stdout?: string }) => error.stdout ?? error.message,
    );
  }

  /** Runs a compiled file and returns its output. Rejects with the output if it fails. */
  async run(file: string, node = process.execPath, env: NodeJS.ProcessEnv = {}): Promise<string> {
    const { PATH } = process.env;
    const { stdout } = await run(node, [join('out', file)], { cwd: this.folder, env: { PATH, ...env } });
    return stdout;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.folder, { recursive: true, force: true });
  }
}
