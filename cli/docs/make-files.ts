import { createHash, randomUUID } from 'node:crypto';
import { mkdir, readdir, readFile, rename, writeFile } from 'node:fs/promises';
import { join } from 'node:path';
import { repository } from '@waybell/stack/stack-folder';

/** Code that is made from that data, by what lies in this folder and by packages. */
export type Generated = { madeFrom: unknown; make: () => Promise<string> };

/**
 * Makes those of the files below the folder that are missing or not up to date. Each ends with a digest of itself and of all that
 * it is made from, so that no clock has a say. Any number of processes may do so at once.
 */
export async function makeFiles(root: string, files: Record<string, Generated>): Promise<void> {
  const makers = await readMakers();
  for (const [path, { madeFrom, make }] of Object.entries(files)) {
    const data = JSON.stringify(madeFrom);
    const seal = (code: string) =>
      `\n// ${createHash('sha256').update(makers).update(data).update(code).digest('hex')}\n`;
    const there = await readFile(join(root, path), 'utf8').catch(() => '');
    const kept = there.slice(0, -seal('').length);
    if (there === kept + seal(kept)) continue;
    const code = await make();
    await replaceFile(root, path, code + seal(code));
  }
}

/** The code of this folder, and which packages are installed. */
async function readMakers(): Promise<string> {
  const names = (await readdir(import.meta.dirname)).filter((name) => name.endsWith('.ts')).toSorted();
  const code = names.map((name) => readFile(join(import.meta.dirname, name), 'utf8'));
  const installed = readFile(join(repository, 'node_modules/.pnpm/lock.yaml'), 'utf8');
  return (await Promise.all([installed, ...code])).join('\n');
}

/** In one step: who reads it meanwhile sees all of the old or all of the new one. */
async function replaceFile(root: string, path: string, text: string): Promise<void> {
  const draft = join(root, '.waybell', randomUUID());
  await mkdir(join(root, '.waybell'), { recursive: true });
  await writeFile(draft, text);
  await rename(draft, join(root, path));
}
