import { spawn } from 'node:child_process';
import { globSync, statSync } from 'node:fs';
import { join } from 'node:path';
import { repository } from './stack-folder.ts';

const folder = join(repository, 'apps', 'console');
const built = join(folder, 'dist', 'index.html');
const sources = ['src/**/*', 'index.html', 'package.json', 'vite.config.ts'];

/**
 * Builds the page in the browser if it is missing, or older than its sources. This takes a second or so, while servers start. A
 * page that cannot be built is reported, and keeps nothing else from starting.
 */
export async function buildConsole(report: (line: string) => void): Promise<void> {
  if (!isOutdated()) return;
  const failure = await run();
  if (failure !== undefined) report(`the console in the browser could not be built: ${failure}`);
}

function isOutdated(): boolean {
  const builtMs = statSync(built, { throwIfNoEntry: false })?.mtimeMs ?? 0;
  const newer = (path: string) => (statSync(path, { throwIfNoEntry: false })?.mtimeMs ?? 0) > builtMs;
  return globSync(sources, { cwd: folder }).some((path) => newer(join(folder, path)));
}

/** Returns its output if it failed. */
function run(): Promise<string | undefined> {
  const vite = join(folder, 'node_modules', 'vite', 'bin', 'vite.js');
  const child = spawn(process.execPath, [vite, 'build', '--logLevel', 'warn'], {
    cwd: folder,
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  const output: Buffer[] = [];
  for (const stream of [child.stdout, child.stderr]) stream.on('data', (chunk: Buffer) => output.push(chunk));
  return new Promise((resolve) => {
    child.once('error', (error) => resolve(error.message));
    child.once('close', (code) => resolve(code === 0 ? undefined : Buffer.concat(output).toString().trim()));
  });
}
