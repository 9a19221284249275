import { execFile } from 'node:child_process';
import { cp, lstat, mkdir, mkdtemp, readdir, readlink, rm, symlink } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { dirname, join } from 'node:path';
import { promisify } from 'node:util';

const run = promisify(execFile);

/** A copy of the checkout, as it is, whose packages know each other and not those of the checkout. */
export class ScratchCopy implements AsyncDisposable {
  readonly path: string;

  private constructor(path: string) {
    this.path = path;
  }

  static async of(checkout: string): Promise<ScratchCopy> {
    const copy = new ScratchCopy(await mkdtemp(join(tmpdir(), 'waybell-mutants-')));
    const list = ['ls-files', '-z', '--cached', '--others', '--exclude-standard'];
    const { stdout } = await run('git', list, { cwd: checkout, maxBuffer: 2 ** 26 });
    const files = stdout.split('\0').filter((file) => file !== '');
    const isThere = await Promise.all(files.map((file) => lstat(join(checkout, file)).catch(() => undefined)));
    for (const file of files.filter((_, place) => isThere[place] !== undefined)) {
      await cp(join(checkout, file), join(copy.path, file));
    }
    const packages = files.filter((file) => /(^|\/)package\.json$/.test(file)).map(dirname);
    for (const each of packages)
      await linkAll(join(checkout, each, 'node_modules'), join(copy.path, each, 'node_modules'));
    return copy;
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true, maxRetries: 10 });
  }
}

/** Links are relative: copied as they are, those to packages of the workspace lead to the copy's. */
async function linkAll(from: string, to: string): Promise<void> {
  const entries = await readdir(from, { withFileTypes: true }).catch(() => []);
  if (entries.length > 0) await mkdir(to, { recursive: true });
  for (const entry of entries) {
    const [source, target] = [join(from, entry.name), join(to, entry.name)];
    if (entry.isSymbolicLink()) await symlink(await readlink(source), target);
    else if (entry.name.startsWith('@')) await linkAll(source, target);
    else await symlink(source, target);
  }
}
