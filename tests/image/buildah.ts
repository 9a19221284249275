import { execFile } from 'node:child_process';
import { join } from 'node:path';
import { promisify } from 'node:util';
import { repository } from '@waybell/stack/stack-folder';

/** Runs buildah, in the root of the repository; resolves with what it prints. */
export type Buildah = (...args: string[]) => Promise<string>;

const MOST_OUTPUT = 64 * 1024 * 1024;

/** buildah with all of its images in that folder; its storage needs no more than files, and no engine. */
export function buildahIn(folder: string): Buildah {
  const storage = ['--root', join(folder, 'images'), '--runroot', join(folder, 'run'), '--storage-driver', 'vfs'];
  return async (...args) => {
    const options = { cwd: repository, maxBuffer: MOST_OUTPUT };
    const { stdout } = await promisify(execFile)('buildah', [...storage, ...args], options);
    return stdout.trim();
  };
}
