import { globSync } from 'node:fs';
import { cp, mkdir, readdir, readlink, symlink } from 'node:fs/promises';
import { basename, dirname, join } from 'node:path';

const LEFT_OUT = new Set(['node_modules', '.git', '.waybell']);

/** A copy of the checkout, as it is, whose packages know each other and not those of the checkout. */
export async function copyCheckout(checkout: string, path: string): Promise<void> {
  await cp(checkout, path, { recursive: true, filter: (from) => !LEFT_OUT.has(basename(from)) });
  for (const each of globSync('**/package.json', { cwd: path }).map(dirname)) {
    await linkAll(join(checkout, each, 'node_modules'), join(path, each, 'node_modules'));
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
