import { execFile } from 'node:child_process';
import { existsSync } from 'node:fs';
import { basename, join } from 'node:path';
import { promisify } from 'node:util';
import { cacheFolder } from '@waybell/stack/cache-folder';

/**
 * The path of a program of Go, such as `github.com/rhysd/actionlint/cmd/actionlint@v1.7.12`; built the first time, by the
 * `go` on the path. Rejects where there is none.
 */
export async function goProgram(program: string): Promise<string> {
  const [name = ''] = basename(program).split('@');
  const folder = join(cacheFolder(), 'go', program.replaceAll('/', '_'));
  const binary = join(folder, name);
  if (!existsSync(binary))
    await promisify(execFile)('go', ['install', program], { env: { ...process.env, GOBIN: folder } });
  return binary;
}
